package push

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// TestShow: what a person sees of an item, by what the latest attempt came to.
func TestShow(t *testing.T) {
	t.Parallel()
	c := newCipher(t)
	it, err := sample().item(c)
	if err != nil {
		t.Fatal(err)
	}
	it.Pushed, it.Due = time.Unix(100, 0), time.Unix(200, 0)
	for _, tt := range []struct {
		error    string
		dead     bool
		attempts int
		failure  string
	}{
		{"", false, 0, ""},
		{failed(3, "status 410"), true, 3, "status 410"},
		{failed(0, "the target is out of order"), true, 0, "the target is out of order"},
		{failed(2, "challenge: status 500"), false, 2, "challenge: status 500"},
		{"words of another version", true, 0, "words of another version"},
	} {
		it.Error, it.Dead = tt.error, tt.dead
		want := Shown{
			ID: "n-1", Agent: "billing", Task: "task-1", Config: "c-1", Owner: "iss|alice", Target: "https://hooks.example",
			Attempts: tt.attempts, Failure: tt.failure, Created: it.Pushed, Due: it.Due, Dead: tt.dead,
		}
		if diff := cmp.Diff(want, Show(it, c)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.error, diff)
		}
	}
	it.Error = ""
	want := Shown{ID: "n-1", Created: it.Pushed, Due: it.Due, Dead: true, Sealed: true}
	if diff := cmp.Diff(want, Show(it, newCipher(t))); diff != "" {
		t.Errorf("with another key (-want +got):\n%s", diff)
	}
}

// Of an address only scheme, host and port are shown, however it is written.
func TestShownTarget(t *testing.T) {
	t.Parallel()
	c := newCipher(t)
	for url, want := range map[string]string{
		"https://canary:canary@Hooks.Example:443/canary?canary#canary": "https://hooks.example",
		"http://hooks.example:8080":                                    "http://hooks.example:8080",
		"https://[2001:db8::1]:8443/canary":                            "https://[2001:db8::1]:8443",
		"https:canary":                                                 "",
		"canary":                                                       "",
		"https://hooks.example:canary/":                                "",
		"%zz":                                                          "",
	} {
		d := sample()
		d.URL = url
		it, err := d.item(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := Show(it, c).Target; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if got := Show(state.Item{ID: "x"}, c); !got.Sealed {
		t.Errorf("%+v", got)
	}
}
