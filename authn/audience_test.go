package authn

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestL26_OnlyTheAudienceIsTold: who shows a genuine token for another audience is told so, and
// nobody is who has anything else wrong. What the gateway's audiences are is told nobody.
func TestL26_OnlyTheAudienceIsTold(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	other := func(more m) string {
		change := m{"aud": "https://other.test"}
		for name, v := range more {
			change[name] = v
		}
		return good(t, change)
	}
	header := func(kid string) string {
		return sign(t, edKey(), m{"alg": "EdDSA", "kid": kid, "typ": "at+jwt"}, claimsOf(m{"aud": "https://other.test"}))
	}
	tampered := other(nil)
	tampered = tampered[:strings.LastIndex(tampered, ".")] + other(m{"sub": "bob"})[strings.LastIndex(other(m{"sub": "bob"}), "."):]
	tests := []struct {
		name  string
		token string
		told  bool
	}{
		{"another audience", other(nil), true},
		{"several", other(m{"aud": []string{"a", "b"}}), true},
		{"none", other(m{"aud": nil}), true},
		{"another key of the issuer", header("ed"), true},
		{"expired", other(m{"exp": now - 3600}), false},
		{"not yet valid", other(m{"nbf": now + 3600}), false},
		{"odd claims", other(m{"sub": 7}), false},
		{"odd groups", other(m{"groups": 7}), false},
		{"no subject", other(m{"sub": nil}), false},
		{"names in other letters", other(m{"AUD": testAudience}), false},
		{"signed by somebody else", header("ec"), false},
		{"another token's signature", tampered, false},
		{"a key that is not published", header("made-up"), false},
		{"bound to a key", other(m{"cnf": m{"jkt": b64(make([]byte, 32))}}), false},
		{"bound to a certificate", other(m{"cnf": m{"x5t#S256": b64(make([]byte, 32))}}), false},
	}
	provider := standard()
	c := openIssuer(t, provider)
	for _, tt := range tests {
		_, err := c.Authenticate(bearerOf(tt.token))
		toldOf(t, c, tt.name, err, tt.told)
	}
	_, err := c.Authenticate(request("Authorization", "DPoP "+other(nil)))
	toldOf(t, c, "not bound, as a DPoP token", err, false)
	if n := provider.jwks.Load(); n != 1 {
		t.Errorf("the issuer was asked for keys %d times for tokens of another audience", n)
	}
	provider.set(func(i *idp) { i.down = true })
	_, err = openIssuer(t, provider).Authenticate(bearerOf(other(nil)))
	toldOf(t, c, "keys that cannot be had", err, false)
}

// What the issuer says of an opaque token is told alike. Of a JWT that it would have to be asked
// about, to know whether it is still good, nothing is told.
func TestL26_OnlyTheAudienceIsToldOfOpaqueTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change m
		told   bool
	}{
		{"another audience", m{"aud": "other"}, true},
		{"none", m{"aud": nil}, true},
		{"expired", m{"aud": "other", "exp": 1}, false},
		{"no subject", m{"aud": "other", "sub": nil}, false},
		{"bound", m{"aud": "other", "cnf": m{"jkt": b64(make([]byte, 32))}}, false},
		{"inactive", m{"aud": "other", "active": false}, false},
	} {
		a := newAuthServer(t)
		doc := activeAnswer(t, tt.change)
		a.set(func(a *authServer) { a.answer = func(string) string { return doc } })
		c := openTokens(t, a.config(), tokenOptions{})
		for range 2 { // asked, and remembered
			_, err := c.Authenticate(bearerOf("opaque"))
			toldOf(t, c, tt.name, err, tt.told)
		}
	}
	a := newAuthServer(t)
	cfg := a.config()
	cfg.OIDC[0].Introspection.Always = true
	c := openTokens(t, cfg, tokenOptions{})
	_, err := c.Authenticate(bearerOf(a.jwt(t, m{"aud": "other"})))
	toldOf(t, c, "a JWT that is always asked about", err, false)
}

// toldOf looks at a refusal's fault, its challenge and what may be said beside it.
func toldOf(t *testing.T, c *Chain, name string, err error, told bool) {
	t.Helper()
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v", name, err)
	}
	if f := refused.fault; told && f != faultAudience {
		t.Errorf("%s: refused for %s", name, f)
	}
	want, beside := "the credential is not accepted", ""
	if told {
		want, beside = otherAudience, otherAudience
	}
	all := strings.Join(c.Challenges(Demand{Realm: "gw", Err: err}), "\n")
	if strings.Count(all, `error="invalid_token", error_description="`+want+`"`) != 1 || refused.open != beside {
		t.Errorf("%s: told %q and %s", name, refused.open, all)
	}
	if strings.Contains(all, testAudience) || strings.Contains(all, "other.test") {
		t.Errorf("%s: an audience is told: %s", name, all)
	}
}
