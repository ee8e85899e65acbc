package jwt

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// What is read out of a header is in it, and under one of the schemes.
func FuzzReadToken(f *testing.F) {
	for _, s := range []string{"", "Bearer", "Bearer x", "bearer   x", "DPoP x", "DPoPx", "Basic x", "Bearer\tx", "x",
		"Bearer DPoP x", "Bearer x ", "dpop "} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, value string, alone bool) {
		got, ok := credential.ReadToken(value, alone)
		if !ok {
			if alone || got.Scheme != "" {
				t.Errorf("%q: %+v", value, got)
			}
			return
		}
		if !strings.HasSuffix(value, got.Token) {
			t.Errorf("%q does not end in %q", value, got.Token)
		}
		before := strings.TrimRight(strings.TrimSuffix(value, got.Token), " ")
		switch got.Scheme {
		case "":
			if !alone || got.Token != value {
				t.Errorf("%q: %+v", value, got)
			}
		case credential.SchemeBearer, credential.SchemeDPoP:
			if !strings.EqualFold(before, got.Scheme) || strings.HasPrefix(got.Token, " ") {
				t.Errorf("%q: %+v after %q", value, got, before)
			}
		default:
			t.Errorf("%q: scheme %q", value, got.Scheme)
		}
	})
}

// Whatever cnf and act hold, a token that passes is bound to what can be checked, and
// its actors have names and are no more than may be.
func FuzzBindingAndActors(f *testing.F) {
	for _, s := range []string{`{}`, `{"cnf":{}}`, `{"cnf":{"jkt":"` + strings.Repeat("A", 43) + `"}}`, `{"cnf":null}`,
		`{"act":{"sub":"a","act":{"sub":"b","iss":"c"}}}`, `{"act":{"sub":1}}`, `{"act":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		claims, err := jws.Object[any](doc)
		if err != nil {
			return
		}
		_, bound := claims["cnf"]
		c, err := readConfirmation(claims)
		if err == nil && bound != (c.proof() != "") {
			t.Errorf("%s: bound %v, read %+v", doc, bound, c)
		}
		_, delegated := claims["act"]
		actors, err := readActors(claims, authntest.TestIssuer, 3)
		if err != nil {
			return
		}
		if delegated != (len(actors) > 0) || len(actors) > 3 {
			t.Errorf("%s: actors %v", doc, actors)
		}
		for _, a := range actors {
			if a.Subject == "" || a.Issuer == "" {
				t.Errorf("%s: actor %+v", doc, a)
			}
		}
	})
}
