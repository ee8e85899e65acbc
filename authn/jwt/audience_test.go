package jwt

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// TestL26_OnlyTheAudienceIsTold: who shows a genuine token for another audience is told so, and
// nobody is who has anything else wrong. What the gateway's audiences are is told nobody.
func TestL26_OnlyTheAudienceIsTold(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	other := func(more M) string {
		change := M{"aud": "https://other.test"}
		for name, v := range more {
			change[name] = v
		}
		return authntest.Good(t, change)
	}
	header := func(kid string) string {
		return authntest.Sign(t, authntest.EdKey(), M{"alg": "EdDSA", "kid": kid, "typ": "at+jwt"}, authntest.ClaimsOf(M{"aud": "https://other.test"}))
	}
	tampered := other(nil)
	tampered = tampered[:strings.LastIndex(tampered, ".")] + other(M{"sub": "bob"})[strings.LastIndex(other(M{"sub": "bob"}), "."):]
	tests := []struct {
		name  string
		token string
		told  bool
	}{
		{"another audience", other(nil), true},
		{"several", other(M{"aud": []string{"a", "b"}}), true},
		{"none", other(M{"aud": nil}), true},
		{"another key of the issuer", header("ed"), true},
		{"expired", other(M{"exp": now - 3600}), false},
		{"not yet valid", other(M{"nbf": now + 3600}), false},
		{"odd claims", other(M{"sub": 7}), false},
		{"odd groups", other(M{"groups": 7}), false},
		{"no subject", other(M{"sub": nil}), false},
		{"names in other letters", other(M{"AUD": authntest.TestAudience}), false},
		{"signed by somebody else", header("ec"), false},
		{"another token's signature", tampered, false},
		{"a key that is not published", header("made-up"), false},
		{"bound to a key", other(M{"cnf": M{"jkt": authntest.Base64(make([]byte, 32))}}), false},
		{"bound to a certificate", other(M{"cnf": M{"x5t#S256": authntest.Base64(make([]byte, 32))}}), false},
	}
	provider := authntest.Standard()
	c := openIssuer(t, provider)
	for _, tt := range tests {
		_, err := c.Authenticate(authntest.BearerOf(tt.token))
		toldOf(t, c, tt.name, err, tt.told)
	}
	_, err := c.Authenticate(authntest.Request("Authorization", "DPoP "+other(nil)))
	toldOf(t, c, "not bound, as a DPoP token", err, false)
	if n := provider.Jwks.Load(); n != 1 {
		t.Errorf("the issuer was asked for keys %d times for tokens of another audience", n)
	}
	provider.Set(func(i *authntest.IDP) { i.Down = true })
	_, err = openIssuer(t, provider).Authenticate(authntest.BearerOf(other(nil)))
	toldOf(t, c, "keys that cannot be had", err, false)
}

// What the issuer says of an opaque token is told alike. Of a JWT that it would have to be asked
// about, to know whether it is still good, nothing is told.
func TestL26_OnlyTheAudienceIsToldOfOpaqueTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change M
		told   bool
	}{
		{"another audience", M{"aud": "other"}, true},
		{"none", M{"aud": nil}, true},
		{"expired", M{"aud": "other", "exp": 1}, false},
		{"no subject", M{"aud": "other", "sub": nil}, false},
		{"bound", M{"aud": "other", "cnf": M{"jkt": authntest.Base64(make([]byte, 32))}}, false},
		{"inactive", M{"aud": "other", "active": false}, false},
	} {
		a := newAuthServer(t)
		doc := activeAnswer(t, tt.change)
		a.set(func(a *authServer) { a.answer = func(string) string { return doc } })
		c := openTokens(t, a.config(), Options{})
		for range 2 { // asked, and remembered
			_, err := c.Authenticate(authntest.BearerOf("opaque"))
			toldOf(t, c, tt.name, err, tt.told)
		}
	}
	a := newAuthServer(t)
	cfg := a.config()
	cfg.OIDC[0].Introspection.Always = true
	c := openTokens(t, cfg, Options{})
	_, err := c.Authenticate(authntest.BearerOf(a.jwt(t, M{"aud": "other"})))
	toldOf(t, c, "a JWT that is always asked about", err, false)
}

// toldOf looks at a refusal's fault, its challenge and what may be said beside it.
func toldOf(t *testing.T, c *authn.Chain, name string, err error, told bool) {
	t.Helper()
	var refused *authn.Refused
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v", name, err)
	}
	if f := refused.Fault; told && f != faultAudience {
		t.Errorf("%s: refused for %s", name, f)
	}
	want, beside := "the credential is not accepted", ""
	if told {
		want, beside = otherAudience, otherAudience
	}
	all := strings.Join(c.Challenges(authn.Demand{Realm: "gw", Err: err}), "\n")
	if strings.Count(all, `error="invalid_token", error_description="`+want+`"`) != 1 || refused.Hint != beside {
		t.Errorf("%s: told %q and %s", name, refused.Hint, all)
	}
	if strings.Contains(all, authntest.TestAudience) || strings.Contains(all, "other.test") {
		t.Errorf("%s: an audience is told: %s", name, all)
	}
}
