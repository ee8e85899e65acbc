package cors

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestL45_OriginsAreCompared(t *testing.T) {
	t.Parallel()
	some := Config{Origins: []string{"https://app.example.com", "http://127.0.0.1:5173", "https://*.example.org", "https://*.example.net:8443"}}
	for origin, want := range map[string]bool{
		"https://app.example.com":           true,
		"http://127.0.0.1:5173":             true,
		"https://one.example.org":           true,
		"https://xn--bcher-kva.example.org": true,
		"https://one.example.net:8443":      true,

		"http://app.example.com":                           false,
		"https://app.example.com:8443":                     false,
		"https://app.example.com.evil.example":             false,
		"https://evilapp.example.com":                      false,
		"http://localhost":                                 false,
		"https://example.org":                              false,
		"https://.example.org":                             false,
		"https://one.two.example.org":                      false,
		"https://evil.example/.example.org":                false,
		"https://evil.example?.example.org":                false,
		"https://evil.example#.example.org":                false,
		"https://evil.example:1.example.org":               false,
		"https://user@x.example.org":                       false,
		"https://oneexample.org":                           false,
		"http://one.example.org":                           false,
		"https://one.example.net":                          false,
		"HTTPS://app.example.com":                          false,
		"https://APP.example.com":                          false,
		"https://app.example.com/":                         false,
		"https://app.example.com:443":                      false,
		"https://app.example.com.":                         false,
		"https://app.example.com ":                         false,
		"https://ONE.example.org":                          false,
		"https://one.example.org:443":                      false,
		"https://app.example.com, https://app.example.com": false,
		"null": false,
		"*":    false,
		"":     false,
	} {
		if got := some.Allows([]string{origin}); got != want {
			t.Errorf("%q: got %v", origin, got)
		}
	}
	if some.Allows(nil) || some.Allows([]string{"https://app.example.com", "https://app.example.com"}) {
		t.Error("none, or two, are allowed")
	}
	if !(&Config{Origins: []string{"*"}}).Allows([]string{"null"}) {
		t.Error("* is not any")
	}
}

// TestCORSAnswer: the last word about an answer is the gateway's.
func TestCORSAnswer(t *testing.T) {
	t.Parallel()
	agents := func() http.Header {
		return http.Header{
			"Access-Control-Allow-Origin": {"https://agent.example"}, "Access-Control-Max-Age": {"1"},
			"Access-Control-Allow-Credentials": {"true"}, "Vary": {"A2a-Version, origin"}, "Content-Type": {"text/plain"},
		}
	}
	shown := []string{exposed + ", X-Agent"}
	for name, tt := range map[string]struct {
		cors   Config
		origin []string
		want   http.Header
	}{
		"allowed": {Config{Origins: []string{"https://a.example"}}, []string{"https://a.example"}, http.Header{
			"Access-Control-Allow-Origin": {"https://a.example"}, "Access-Control-Expose-Headers": shown}},
		"credentials": {Config{Origins: []string{"https://a.example"}, Credentials: true}, []string{"https://a.example"}, http.Header{
			"Access-Control-Allow-Origin": {"https://a.example"}, "Access-Control-Expose-Headers": shown, "Access-Control-Allow-Credentials": {"true"}}},
		"any":       {Config{Origins: []string{"*"}}, []string{"https://b.example"}, http.Header{"Access-Control-Allow-Origin": {"*"}, "Access-Control-Expose-Headers": shown}},
		"other":     {Config{Origins: []string{"https://a.example"}}, []string{"https://agent.example"}, http.Header{}},
		"no origin": {Config{Origins: []string{"*"}}, nil, http.Header{}},
	} {
		tt.want["Vary"], tt.want["Content-Type"] = []string{"A2a-Version, origin"}, []string{"text/plain"}
		h := agents()
		for range 2 { // saying it again changes nothing
			tt.cors.Answer(h, tt.origin, []string{"X-Agent"})
			if diff := cmp.Diff(tt.want, h); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
	h := http.Header{}
	(&Config{Origins: []string{"*"}}).Answer(h, nil, nil)
	if got := h["Vary"]; len(got) != 1 || got[0] != "Origin" {
		t.Errorf("Vary: %q", got)
	}
}

func TestCORSDefaults(t *testing.T) {
	t.Parallel()
	c := Config{Origins: []string{"*"}}
	if c.Defaults(); c.MaxAge.Std() != 10*time.Minute {
		t.Errorf("got %s", c.MaxAge)
	}
}
