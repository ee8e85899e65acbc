package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestL45_Origins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{origins: ["https://app.example.com"]}`:                                "",
		`{origins: ["http://127.0.0.1:5173", "https://[::1]:3000"]}`:            "",
		`{origins: ["https://*.example.com", "https://*.app.example.com:444"]}`: "",
		`{origins: ["chrome-extension://abcdefgh"]}`:                            "",
		`{origins: ["*"]}`: "",
		`{origins: ["https://a.example"], credentials: true, headers: [X-Custom], maxAge: 1h}`: "",

		`{}`:                                  "server.cors.origins: is empty",
		`{origins: ["*"], credentials: true}`: `server.cors.origins[0]: "*" cannot be together with server.cors.credentials`,
		`{origins: ["https://a.example", "null"]}`:                 `server.cors.origins[1]: "null" is every sandboxed page`,
		`{origins: [app.example.com]}`:                             "is not an origin",
		`{origins: ["https://app.example.com/"]}`:                  "no slash at the end",
		`{origins: ["https://App.example.com"]}`:                   "in lower case",
		`{origins: ["https://a.example:443"]}`:                     "as browsers send it",
		`{origins: ["http://a.example:080"]}`:                      "as browsers send it",
		`{origins: ["https://a.example/p"]}`:                       "as browsers send it",
		`{origins: ["https://u:p@a.example"]}`:                     "as browsers send it",
		`{origins: ["https://*"]}`:                                 "as browsers send it",
		`{origins: ["https://*.com"]}`:                             "write a domain of yours",
		`{origins: ["https://a.*.example.com"]}`:                   "as browsers send it",
		`{origins: ["https://*a.example.com"]}`:                    "as browsers send it",
		`{origins: ["https://*.*.example.com"]}`:                   "as browsers send it",
		`{origins: ["https://a.example", "*"], credentials: true}`: `server.cors.origins[1]: "*" cannot be together with server.cors.credentials`,
		`{origins: ["null"], credentials: true}`:                   `server.cors.origins[0]: "null"`,
		`{origins: ["HTTPS://a.example"]}`:                         "as browsers send it",
		`{origins: ["http://a.example:80"]}`:                       "as browsers send it",
		`{origins: ["https://a.example:"]}`:                        "as browsers send it",
		`{origins: ["https://a.example:0"]}`:                       "as browsers send it",
		`{origins: ["https://a.example:65536"]}`:                   "as browsers send it",
		`{origins: ["https://a.example?q"]}`:                       "as browsers send it",
		`{origins: ["https://a.example#f"]}`:                       "as browsers send it",
		`{origins: ["http://[0:0:0:0:0:0:0:1]:3000"]}`:             "as browsers send it",
		`{origins: ["http://127.1:3000"]}`:                         "as browsers send it",
		`{origins: ["https://bücher.example"]}`:                    "as browsers send it",
		`{origins: [" https://a.example"]}`:                        "is not an origin",
		`{origins: ["file://"]}`:                                   "is not an origin",
		`{origins: [""]}`:                                          "is not an origin",
		`{origins: ["https://*.example.com:*"]}`:                   "is not an origin",
		`{origins: ["*://a.example"]}`:                             "is not an origin",
		`{origins: ["https://*.127.0.0.1"]}`:                       "as browsers send it",
		`{origins: ["*"], headers: ["*"]}`:                         "server.cors.headers[0]",
		`{origins: ["*"], headers: ["A B"]}`:                       "server.cors.headers[0]",
	} {
		c, err := load(t, `server: {publicURL: "http://localhost", cors: `+text+`}`)
		if err != nil {
			t.Fatal(text, err)
		}
		c.Defaults()
		err = c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestL45_OriginsAreCompared(t *testing.T) {
	t.Parallel()
	some := CORS{Origins: []string{"https://app.example.com", "http://127.0.0.1:5173", "https://*.example.org", "https://*.example.net:8443"}}
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
	if !(&CORS{Origins: []string{"*"}}).Allows([]string{"null"}) {
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
		cors   CORS
		origin []string
		want   http.Header
	}{
		"allowed": {CORS{Origins: []string{"https://a.example"}}, []string{"https://a.example"}, http.Header{
			"Access-Control-Allow-Origin": {"https://a.example"}, "Access-Control-Expose-Headers": shown}},
		"credentials": {CORS{Origins: []string{"https://a.example"}, Credentials: true}, []string{"https://a.example"}, http.Header{
			"Access-Control-Allow-Origin": {"https://a.example"}, "Access-Control-Expose-Headers": shown, "Access-Control-Allow-Credentials": {"true"}}},
		"any":       {CORS{Origins: []string{"*"}}, []string{"https://b.example"}, http.Header{"Access-Control-Allow-Origin": {"*"}, "Access-Control-Expose-Headers": shown}},
		"other":     {CORS{Origins: []string{"https://a.example"}}, []string{"https://agent.example"}, http.Header{}},
		"no origin": {CORS{Origins: []string{"*"}}, nil, http.Header{}},
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
	(&CORS{Origins: []string{"*"}}).Answer(h, nil, nil)
	if got := h["Vary"]; len(got) != 1 || got[0] != "Origin" {
		t.Errorf("Vary: %q", got)
	}
}

func TestCORSDefaults(t *testing.T) {
	t.Parallel()
	c := Config{CORS: &CORS{Origins: []string{"*"}}}
	if c.Defaults(); c.CORS.MaxAge.Std() != 10*time.Minute {
		t.Errorf("got %s", c.CORS.MaxAge)
	}
}
