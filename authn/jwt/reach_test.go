package jwt

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestReach: whether an issuer's tokens could be verified, and it answers about tokens, is
// found out without a token.
func TestReach(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	inactive := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"active": false}`))
	}
	for name, c := range map[string]struct {
		keys, answer http.HandlerFunc // nil as it should be
		change       func(*Issuer)
		odd, want    string
	}{
		"all as it should be":   {answer: inactive},
		"no introspection":      {answer: status(500), change: func(is *Issuer) { is.Introspection = nil }},
		"no keys":               {keys: status(503), change: func(is *Issuer) { is.Introspection = nil }, want: "no keys of the issuer: fetch key set: "},
		"opaque tokens alone":   {keys: status(404), answer: inactive, odd: "no keys of the issuer: "},
		"not who may ask":       {answer: status(401), want: "introspection: "},
		"an odd token":          {answer: status(400)},
		"nobody":                {change: func(is *Issuer) { is.Issuer = "http://127.0.0.1:1" }, want: "no keys of the issuer: "},
		"nobody at the key set": {answer: inactive, change: func(is *Issuer) { is.JWKS = "http://127.0.0.1:1/k?CANARY" }, odd: "no keys of the issuer: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuthServer(t)
			a.keys.Set(func(i *authntest.IDP) { i.Answer = c.keys })
			a.set(func(a *authServer) { a.handle = c.answer })
			is := a.config().OIDC[0]
			if c.change != nil {
				c.change(&is)
			}
			odd, err := Reach(t.Context(), is, nil)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if !strings.HasPrefix(odd, c.odd) || (odd == "") != (c.odd == "") || !strings.HasPrefix(text, c.want) || (text == "") != (c.want == "") {
				t.Errorf("odd %q, error %q", odd, text)
			}
			if all := odd + text; strings.Contains(all, "CANARY") || strings.Contains(all, secret.New("geheim").Reveal()) {
				t.Errorf("shows a secret: %s", all)
			}
			if c.change == nil && !strings.HasSuffix(a.last.Load().URL.Path, "/introspect") {
				t.Error("it was not asked about a token")
			}
		})
	}
}
