package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadAgent(t *testing.T) {
	t.Parallel()
	a, err := ReadAgent([]byte(`{"id":"b\u00e9\/illing","card":{"url":"https://x.example/card","visibility":"caller"},"connections":7,
		"credentials":[{"header":"X-Key","value":"${HOME} <<: *a & \ud83d\ude00"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.ID != "bé/illing" || a.Card.Visibility != "caller" || a.Credentials[0].Value.Reveal() != "${HOME} <<: *a & 😀" {
		t.Errorf("%+v %q", a, a.Credentials[0].Value.Reveal())
	}
}

// TestReadAgentRefuses: what is wrong is said without a place and without a secret, and no
// file of this machine can be named.
func TestReadAgentRefuses(t *testing.T) {
	t.Parallel()
	const agent = `{"id":"a","card":"https://x.example/card",`
	for doc, want := range map[string]string{
		``: "want an agent as a JSON object", `[]`: "want an agent", `{"id":"a"} x`: "want an agent",
		`{"id":"a","id":"b"}`: "a name that is there twice", `id: a`: "want an agent",
		agent + `"kard":1}`: `unknown key "kard", did you mean "card"?`,
		agent + `"credentials":[{"header":"X","value":{"file":"/etc/passwd"}}]}`:          "credentials[0].value: want the secret itself; files cannot be named here",
		agent + `"credentials":[{"header":"X","value":["canary"]}]}`:                      "credentials[0].value: want the secret itself",
		agent + `"tls":{"ca":"/etc/ssl/ca.pem"}}`:                                         "files cannot be named here",
		agent + `"load":{"instances":[{"file":"/etc/hosts"}]}}`:                           "files cannot be named here",
		agent + `"skills":[{"id":"s","input":"/etc/schema.json"}]}`:                       "files cannot be named here",
		agent + `"load":{"instances":[{"kubernetes":{"service":"s","token":"/etc/t"}}]}}`: "files cannot be named here",
		agent + `"hosts":"x"}`:                          "hosts: want a list",
		agent + `"card":{"refresh":"canary"}}`:          "there twice",
		agent + `"connections":"many","hosts":[1,[2]]}`: "hosts[1]",
	} {
		_, err := ReadAgent([]byte(doc))
		var said Problems
		if !errors.As(err, &said) || !strings.Contains(strings.Join(said, "\n"), want) || strings.Contains(strings.Join(said, "\n"), "canary\"]") ||
			strings.HasPrefix(said[0], ":") {
			t.Errorf("%s: %q, want %s", doc, said, want)
		}
	}
}

// TestShowAgent: everything is there again but for secrets.
func TestShowAgent(t *testing.T) {
	t.Parallel()
	got, err := ShowAgent([]byte(`{"id":"a","card":{"url":"https://u:canary@x.example/card?key=canary"},"n":1,
		"credentials":[{"header":"X-Key","value":"canary","prefix":"p "},{"header":"Y","oauth2":{"clientID":"me","clientSecret":{"file":"canary"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"card":{"url":"https://x.example/card?…"},"credentials":[{"header":"X-Key","prefix":"p ","value":"(secret)"},` +
		`{"header":"Y","oauth2":{"clientID":"me","clientSecret":"(secret)"}}],"id":"a","n":1}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzReadAgent(f *testing.F) {
	f.Add([]byte(`{"id":"a","card":"https://x.example/card","credentials":[{"header":"X","value":"canary"}]}`))
	f.Add([]byte(`{"id":"a","card":{"url":"&a *a <<"},"extensions":{"inject":[{"uri":"urn:x","metadata":{"a":[1,null]}}]}}`))
	f.Add([]byte(`{"<<":{"id":"x"},"id":"\u0000\ufeff"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		a, err := ReadAgent(doc)
		if err != nil {
			return
		}
		shown, err := ShowAgent(doc)
		if err != nil {
			t.Fatalf("%q can be read and not be shown: %v", doc, err)
		}
		for i := range a.Credentials {
			if v := a.Credentials[i].Value.Reveal(); len(v) > 8 && v != "(secret)" && strings.Contains(string(shown), `"`+v+`"`) &&
				strings.Count(string(doc), v) == 1 {
				t.Errorf("%q shows %q", shown, v)
			}
		}
	})
}
