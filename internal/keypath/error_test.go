package keypath

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	wrong := errors.New("it is wrong")
	tests := []struct {
		name       string
		err        error
		text, path string
	}{
		{"plain", wrong, "it is wrong", ""},
		{"at", At(wrong, "tls", "minVersion"), "tls.minVersion: it is wrong", "tls.minVersion"},
		{"nested", At(At(wrong, 2, "oauth2"), "agents", 0, "credentials"), "agents[0].credentials[2].oauth2: it is wrong", "agents[0].credentials[2].oauth2"},
		{"pointed", At(Point(errors.New("effect is missing"), "effect"), "policy"), "policy: effect is missing", "policy.effect"},
		{"pointed from above", At(Point(At(wrong, "parts", 1), "rules", 3), "policy"), "policy: parts[1]: it is wrong", "policy.rules[3].parts[1]"},
		{"wrapped", At(fmt.Errorf(`rule "a": %w`, At(wrong, "parts")), "policy"), `policy: rule "a": parts: it is wrong`, "policy.parts"},
		{"a sentence of two", At(fmt.Errorf("%w: %w", errors.New("it is away"), wrong), "url"), "url: it is away: it is wrong", "url"},
		{"of a path", At(wrong, Of("tls", 1), "cert"), "tls[1].cert: it is wrong", "tls[1].cert"},
		{"trimmed", Trim(At(wrong, "server", "tls", "minVersion"), "server"), "tls.minVersion: it is wrong", "tls.minVersion"},
		{"trimmed of another", Trim(At(wrong, "server", "id"), "server", "tls"), "server.id: it is wrong", "server.id"},
		{"another's key", At(wrong, "defaults", "https://example.com/e", "a b", "7"), `defaults["https://example.com/e"]["a b"][7]: it is wrong`, `defaults["https://example.com/e"]["a b"][7]`},
	}
	for _, tt := range tests {
		all := Errors(tt.err)
		if len(all) != 1 || tt.err.Error() != tt.text || all[0].Path().String() != tt.path {
			t.Errorf("%s: %q at %q, want %q at %q", tt.name, tt.err, all[0].Path(), tt.text, tt.path)
		}
		if !errors.Is(tt.err, wrong) && tt.name != "pointed" {
			t.Errorf("%s: what was wrong is lost", tt.name)
		}
	}
}

// TestJoined gives each of several errors the path, and none to no error.
func TestJoined(t *testing.T) {
	t.Parallel()
	both := errors.Join(At(errors.New("a"), "x"), nil, errors.Join(fs.ErrNotExist))
	if got, want := At(both, "s").Error(), "s.x: a\ns: file does not exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := At(fmt.Errorf("rule 1: %w", both), "s").Error(), "s: rule 1: x: a\ns: rule 1: file does not exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(At(both, "s"), fs.ErrNotExist) {
		t.Error("what was wrong is lost")
	}
	if At(nil, "s") != nil || Point(nil, "s") != nil || At(errors.Join(nil), "s") != nil || Errors(nil) != nil {
		t.Error("no error became one")
	}
}

// TestString writes keys of the operator's so that they can be told from ours.
func TestString(t *testing.T) {
	t.Parallel()
	for want, path := range map[string]Path{
		"agents[0].card":                       Of("agents", 0, "card"),
		`extensions[10].defaults["https://a"]`: Of("extensions", 10, "defaults", "https://a"),
		`a["1a"]["b\"c"].d`:                    Of("a", "1a", `b"c`, "d"),
		`a[""]`:                                Of("a", ""),
	} {
		if got := path.String(); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// TestOf refuses a step of another type, which a typo in a program would make.
func TestOf(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a step of another type was taken")
		}
	}()
	Of("a", int64(1))
}
