package secret

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestL43_AddressesWithoutSecrets: what is said of an address, of a card or anything else
// that is fetched, goes into the log and to operators, and names neither who asks nor with
// what.
func TestL43_AddressesWithoutSecrets(t *testing.T) {
	t.Parallel()
	for raw, want := range map[URL]string{
		"":                     "",
		"http://127.0.0.1:1/c": "http://127.0.0.1:1/c",
		"https://canary-user:canary-password@a.example:8443/card.json?key=canary#canary": "https://a.example:8443/card.json?…",
		"https://canary-token@a.example/card.json":                                       "https://a.example/card.json",
		"https://a.example/card.json?canary":                                             "https://a.example/card.json?…",
		"https://a.example/#canary":                                                      "https://a.example/",
		"https://user:canary/canary@a.example/":                                          redacted,
		"https://us er:canary@a.example/":                                                redacted,
		"user:canary@a.example:6379":                                                     redacted,
		"user:canary@a.example/c":                                                        redacted,
		"https:/canary@a.example":                                                        redacted,
		"redis://:canary@a.example:6379/0":                                               "redis://a.example:6379/0",
		"a.example:50051":                                                                "a.example:50051",
		":6379":                                                                          ":6379",
	} {
		if got := raw.String(); got != want {
			t.Errorf("%s: %s", string(raw), got)
		}
	}
}

// TestURLPrintsNowhere tries every way the standard library has of writing a value.
func TestURLPrintsNowhere(t *testing.T) {
	t.Parallel()
	type config struct{ At URL }
	in := config{"https://user:canary@a.example/c?sig=canary"}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "at", in.At)
	asJSON, _ := json.Marshal(in)
	asYAML, _ := yaml.Marshal(in)
	texts := []string{logged.String(), string(asJSON), string(asYAML), in.At.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t"} {
		texts = append(texts, fmt.Sprintf(verb, in), fmt.Sprintf(verb, in.At), fmt.Sprintf(verb, []URL{in.At}))
	}
	for _, text := range texts {
		if strings.Contains(text, "canary") || strings.Contains(text, "63616e617279") {
			t.Errorf("shows the secret: %s", text)
		}
	}
	if want := `{"At":"https://a.example/c?…"}`; string(asJSON) != want {
		t.Errorf("JSON %s", asJSON)
	}
	if in.At.Reveal() != "https://user:canary@a.example/c?sig=canary" {
		t.Errorf("revealed %s", in.At.Reveal())
	}
}

func TestURLHidesInErrors(t *testing.T) {
	t.Parallel()
	at := URL("http://canary-user:canary%21pass@127.0.0.1:1/jwks?key=canary%2Fkey&v=1")
	_, dial := http.Get(at.Reveal()) //nolint:bodyclose // there is nobody
	_, request := http.NewRequest("BAD METHOD", at.Reveal(), nil)
	_, parse := url.Parse("http://canary-user:canary/1@a.example:x/")
	tests := []struct {
		in   error
		want string // the whole of it; "" where it is the library's
	}{
		{dial, ""},
		{request, ""},
		{parse, ""},
		{fmt.Errorf("read: %w", dial), ""},
		{errors.New(`Location header "/jwks/?key=canary%2Fkey&v=1"`), `Location header "/jwks/?…"`},
		{errors.New(`no key "canary/key" is known`), `no key "…" is known`},
		{errors.New("login canary-user:canary%21pass, canary!pass"), "login …, …"},
		{errors.New("version 1 is wrong"), "version 1 is wrong"},
		{errors.New("see https://a.example/v1#part, (https://b.example/?q=canary)."), "see https://a.example/v1#part, (https://b.example/?…)."},
		{errors.New("Post \"https://x:canary canary@b.example/\": no"), "Post \"[redacted]\": no"},
	}
	for _, tt := range tests {
		got := at.Hide(tt.in)
		switch {
		case strings.Contains(got.Error(), "canary"):
			t.Errorf("shows the secret: %v", got)
		case tt.want != "" && got.Error() != tt.want:
			t.Errorf("%q, want %q", got, tt.want)
		case !errors.Is(got, tt.in):
			t.Errorf("%v is lost", tt.in)
		}
	}
	var read *url.Error
	if !errors.As(at.Hide(dial), &read) || at.Hide(nil) != nil {
		t.Error("what is wrapped cannot be found, or nothing became something")
	}
	if _, err := URL("http://user:canary/1@a.example").Parse(); err == nil || err.Error() != "not a URL" {
		t.Errorf("parsed with %v", err)
	}
}
