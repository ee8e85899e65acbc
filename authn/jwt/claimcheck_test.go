package jwt

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Each row changes one thing of a good token.
func TestL26_ClaimsMutations(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	type m = map[string]any
	tests := []struct {
		name   string
		change m
		want   string
	}{
		{"control", nil, "ok"},
		{"iss absent", m{"iss": nil}, "unknown-issuer"},
		{"iss another", m{"iss": "https://evil.test"}, "unknown-issuer"},
		{"iss with slash", m{"iss": authntest.TestIssuer + "/"}, "unknown-issuer"},
		{"iss in capitals", m{"iss": strings.ToUpper(authntest.TestIssuer)}, "unknown-issuer"},
		{"iss with a space", m{"iss": authntest.TestIssuer + " "}, "unknown-issuer"},
		{"iss without scheme", m{"iss": "idp.test"}, "unknown-issuer"},
		{"iss a list", m{"iss": []string{authntest.TestIssuer}}, "unknown-issuer"},
		{"aud absent", m{"aud": nil}, "audience"},
		{"aud another", m{"aud": "https://other.test"}, "audience"},
		{"aud a prefix", m{"aud": authntest.TestAudience + "/x"}, "audience"},
		{"aud in capitals", m{"aud": strings.ToUpper(authntest.TestAudience)}, "audience"},
		{"aud empty", m{"aud": ""}, "audience"},
		{"aud empty list", m{"aud": []string{}}, "audience"},
		{"aud joined by a space", m{"aud": authntest.TestAudience + " other"}, "audience"},
		{"aud a list with ours", m{"aud": []string{"other", authntest.TestAudience}}, "ok"},
		{"aud a list without ours", m{"aud": []string{"other", "another"}}, "audience"},
		{"aud a mixed list", m{"aud": []any{authntest.TestAudience, 1}}, "audience"},
		{"aud an object", m{"aud": m{authntest.TestAudience: true}}, "audience"},
		{"exp absent", m{"exp": nil}, "claims"},
		{"exp a string", m{"exp": "99999999999"}, "claims"},
		{"exp negative", m{"exp": -1}, "claims"},
		{"exp zero", m{"exp": 0}, "expired"},
		{"exp huge", m{"exp": 1e300}, "claims"},
		{"exp a list", m{"exp": []int{1}}, "claims"},
		{"exp within tolerance", m{"exp": now - 30}, "ok"},
		{"exp past tolerance", m{"exp": now - 61}, "expired"},
		{"exp with fraction", m{"exp": float64(now) + 100.5}, "ok"},
		{"nbf within tolerance", m{"nbf": now + 50}, "ok"},
		{"nbf past tolerance", m{"nbf": now + 120}, "not-yet-valid"},
		{"nbf a string", m{"nbf": "0"}, "claims"},
		{"iat in the future", m{"iat": now + 120}, "not-yet-valid"},
		{"iat within tolerance", m{"iat": now + 50}, "ok"},
		{"iat absent", m{"iat": nil}, "ok"},
		{"sub absent", m{"sub": nil}, "claims"},
		{"sub empty", m{"sub": ""}, "claims"},
		{"sub a number", m{"sub": 7}, "claims"},
		{"sub a list", m{"sub": []string{"alice"}}, "claims"},
		{"sub with a line break", m{"sub": "alice\nroot"}, "claims"},
		{"sub with a bidi mark", m{"sub": "alice\u202e"}, "claims"},
		{"sub too long", m{"sub": strings.Repeat("a", 256)}, "claims"},
		{"groups a number", m{"groups": 1}, "claims"},
		{"groups a mixed list", m{"groups": []any{"a", nil}}, "claims"},
		{"groups an object", m{"groups": m{"a": 1}}, "claims"},
		{"groups left out", m{"_claim_names": m{"groups": "s"},
			"_claim_sources": m{"s": m{"endpoint": "https://evil.test"}}}, "claims"},
		{"scope a number", m{"scope": 1}, "claims"},
		{"azp a list", m{"azp": []string{"c"}}, "claims"},
		{"sender-constrained by DPoP", m{"cnf": m{"jkt": "x"}}, "sender-constrained"},
		{"sender-constrained by mTLS", m{"cnf": m{"x5t#S256": "x"}}, "sender-constrained"},
		{"logout token", m{"events": m{}}, "id-token"},
	}
	c := openTokens(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{
		Client: &http.Client{Transport: authntest.Standard()}, Now: func() time.Time { return time.Unix(now, 0) },
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := authenticate(t, c, authntest.Good(t, tt.change))
			if got := authntest.FaultOf(err); got != tt.want {
				t.Fatalf("got %s (%v), want %s", got, err, tt.want)
			}
			if err == nil && (p.Subject != "alice" || p.Issuer != authntest.TestIssuer) {
				t.Errorf("principal is %v", p)
			}
		})
	}
}

// Tokens of other kinds that the same issuer signs with the same key.
func TestL26_IDTokens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		claim string
		value any
		want  string
	}{
		{"nonce", "nonce", "n", "id-token"},
		{"at_hash", "at_hash", "h", "id-token"},
		{"c_hash", "c_hash", "h", "id-token"},
		{"Keycloak ID token", "typ", "ID", "id-token"},
		{"Keycloak refresh token", "typ", "Refresh", "id-token"},
		{"Keycloak access token", "typ", "Bearer", "ok"},
		{"Cognito ID token", "token_use", "id", "id-token"},
		{"Cognito access token", "token_use", "access", "ok"},
		{"kind a number", "token_use", 1, "id-token"},
	}
	c := openIssuer(t, authntest.Standard())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			claims := authntest.ClaimsOf(map[string]any{tt.claim: tt.value})
			token := authntest.Sign(t, authntest.EcKey(), map[string]any{"alg": "ES256", "kid": "ec", "typ": "JWT"}, claims)
			if _, err := authenticate(t, c, token); authntest.FaultOf(err) != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			// RFC 9068 says by typ what the token is; a nonce does not change that.
			_, err := authenticate(t, c, authntest.Good(t, map[string]any{tt.claim: tt.value}))
			if err != nil {
				t.Errorf("at+jwt: %v", err)
			}
		})
	}
}

// Keycloak before 24 repeats the nonce in access tokens that came from a browser.
func TestAccessTokenWithNonce(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	for typ, want := range map[string]string{"Bearer": "ok", "ID": "id-token"} {
		claims := authntest.ClaimsOf(map[string]any{"typ": typ, "nonce": "n"})
		token := authntest.Sign(t, authntest.EcKey(), map[string]any{"alg": "ES256", "kid": "ec", "typ": "JWT"}, claims)
		if _, err := authenticate(t, c, token); authntest.FaultOf(err) != want {
			t.Errorf("typ %s with a nonce: got %v, want %s", typ, err, want)
		}
	}
}

func TestPayloadForm(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	for name, payload := range map[string]string{
		"name twice":       `{"iss":"https://idp.test","sub":"alice","sub":"root"}`,
		"name twice below": `{"iss":"https://idp.test","a":{"b":1,"\u0062":2}}`,
		"not an object":    `["https://idp.test"]`,
		"null":             `null`,
		"trailing data":    `{"iss":"https://idp.test"}{}`,
		"invalid UTF-8":    "{\"iss\":\"https://idp.test\",\"sub\":\"\xff\"}",
		"byte order mark":  "\ufeff{}",
		"nested deep":      `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		"lone surrogate":   `{"sub":"\ud800"}`,
		"number too large": `{"exp":1e400}`,
	} {
		token := authntest.SignRaw(t, authntest.EcKey(), []byte(`{"alg":"ES256","kid":"ec"}`), []byte(payload))
		if _, err := authenticate(t, c, token); authntest.FaultOf(err) != "malformed" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPrincipalFromClaims(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	tests := []struct {
		name   string
		issuer Issuer
		change m
		want   authn.Principal
	}{
		{"defaults", Issuer{}, m{"groups": []string{"a", "b", "a", ""}, "scope": "x  y x", "azp": "cli",
			"client_id": "other"},
			authn.Principal{Subject: "alice", Groups: []string{"a", "b"}, Scopes: []string{"x", "y"}, Client: "cli"}},
		{"scp as list, client_id", Issuer{}, m{"scp": []string{"x", "y"}, "client_id": "cli"},
			authn.Principal{Subject: "alice", Scopes: []string{"x", "y"}, Client: "cli"}},
		{"scp as string", Issuer{}, m{"scp": "x y"}, authn.Principal{Subject: "alice", Scopes: []string{"x", "y"}}},
		{"scope before scp", Issuer{}, m{"scope": "x", "scp": "y"}, authn.Principal{Subject: "alice",
			Scopes: []string{"x"}}},
		{"one group", Issuer{}, m{"groups": "team a"}, authn.Principal{Subject: "alice", Groups: []string{"team a"}}},
		{"path", Issuer{Claims: Claims{Groups: "realm_access.roles", Subject: "user.name"}},
			m{"realm_access": m{"roles": []string{"r"}}, "user": m{"name": "bob"}, "groups": []string{"ignored"}},
			authn.Principal{Subject: "bob", Groups: []string{"r"}}},
		{"name with dots", Issuer{Claims: Claims{Groups: "https://example.com/groups"}},
			m{"https://example.com/groups": []string{"g"}}, authn.Principal{Subject: "alice", Groups: []string{"g"}}},
		{"path below a name with dots", Issuer{Claims: Claims{Groups: "https://example.com/app.roles"}},
			m{"https://example.com/app": m{"roles": []string{"g"}}}, authn.Principal{Subject: "alice",
				Groups: []string{"g"}}},
		{"tenant claim", Issuer{Claims: Claims{Tenant: "tid"}}, m{"tid": "acme"}, authn.Principal{Subject: "alice",
			Tenant: "acme"}},
		{"tenant of the issuer", Issuer{Tenant: "acme"}, m{"tid": "evil"}, authn.Principal{Subject: "alice",
			Tenant: "acme"}},
		{"both tenants agree", Issuer{Tenant: "acme", Claims: Claims{Tenant: "tid"}}, m{"tid": "acme"},
			authn.Principal{Subject: "alice", Tenant: "acme"}},
		{"overage of an unmapped claim", Issuer{Claims: Claims{Groups: "roles"}},
			m{"_claim_names": m{"groups": "s"}, "_claim_sources": m{"s": m{}}}, authn.Principal{Subject: "alice"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.issuer.Issuer, tt.issuer.Audiences = authntest.TestIssuer, []string{authntest.TestAudience}
			c := openTokens(t, Config{OIDC: []Issuer{tt.issuer}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
			got, err := authenticate(t, c, authntest.Good(t, tt.change))
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Issuer, tt.want.Method, tt.want.KeyID = authntest.TestIssuer, "oidc", "ec"
			short := authn.Principal{Subject: got.Subject, Issuer: got.Issuer, Client: got.Client, Tenant: got.Tenant,
				Groups: got.Groups, Scopes: got.Scopes, Method: got.Method, KeyID: got.KeyID, Agents: got.Agents}
			if diff := cmp.Diff(tt.want, short, cmp.AllowUnexported(authn.Principal{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if got.Claims["sub"] != "alice" || got.Expires.Before(time.Now()) {
				t.Errorf("claims %v, expires %v", got.Claims, got.Expires)
			}
		})
	}
}

func TestTenantMustBeKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		issuer Issuer
		tid    any
	}{
		{Issuer{Claims: Claims{Tenant: "tid"}}, nil},
		{Issuer{Claims: Claims{Tenant: "tid"}}, ""},
		{Issuer{Claims: Claims{Tenant: "tid"}}, 1},
		{Issuer{Claims: Claims{Tenant: "tid"}, Tenant: "acme"}, nil},
		{Issuer{Claims: Claims{Tenant: "tid"}, Tenant: "acme"}, "evil"},
	} {
		tt.issuer.Issuer, tt.issuer.Audiences = authntest.TestIssuer, []string{authntest.TestAudience}
		c := openTokens(t, Config{OIDC: []Issuer{tt.issuer}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
		if p, err := authenticate(t, c, authntest.Good(t, map[string]any{"tid": tt.tid})); authntest.FaultOf(err) != "claims" {
			t.Errorf("%+v, tid %v: %v, %v", tt.issuer, tt.tid, p, err)
		}
	}
}

// Two issuers that name somebody alike mean two people, and neither can speak for
// the other, whatever its tokens say.
func TestL26_TwoIssuersOneSubject(t *testing.T) {
	t.Parallel()
	const other = "https://other.test"
	net := authntest.Many{authntest.TestIssuer: authntest.NewIDP(authntest.TestIssuer, authntest.JWK("k", "", authntest.EcKey())), other: authntest.NewIDP(other, authntest.JWK("k", "",
		authntest.RsaKey()))}
	c := openTokens(t, Config{OIDC: []Issuer{issuerConfig(), {Issuer: other, Audiences: []string{authntest.TestAudience}}}},
		Options{Client: &http.Client{Transport: net}})
	head := func(alg string) map[string]any { return map[string]any{"alg": alg, "kid": "k", "typ": "at+jwt"} }
	a, errA := authenticate(t, c, authntest.Sign(t, authntest.EcKey(), head("ES256"), authntest.ClaimsOf(nil)))
	b, errB := authenticate(t, c, authntest.Sign(t, authntest.RsaKey(), head("RS256"), authntest.ClaimsOf(map[string]any{"iss": other})))
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if a.Subject != b.Subject || a.Key() == b.Key() || a.Issuer == b.Issuer {
		t.Errorf("%v and %v are not told apart: %q, %q", a, b, a.Key(), b.Key())
	}
	forged := authntest.Sign(t, authntest.EcKey(), head("ES256"), authntest.ClaimsOf(map[string]any{"iss": other}))
	if p, err := authenticate(t, c, forged); err == nil {
		t.Errorf("one issuer spoke for the other: %v", p)
	}
}

func TestClockSkewIsConfigurable(t *testing.T) {
	t.Parallel()
	cfg := issuerConfig()
	cfg.ClockSkew = new(quantity.Duration(time.Second))
	c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
	_, err := authenticate(t, c, authntest.Good(t, map[string]any{"exp": time.Now().Add(-5 * time.Second).Unix()}))
	if authntest.FaultOf(err) != "expired" {
		t.Errorf("got %v", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	claims := map[string]any{"a": map[string]any{"b.c": "x", "b": map[string]any{"d": "y"}}, "a.b": "z",
		"n": nil}
	got := map[string]any{}
	for _, path := range []string{"a.b.c", "a.b.d", "a.b", "a.x", "x", "", ".", "a.", "a.b.", "n"} {
		if v, ok := authn.LookupClaim(claims, path); ok {
			got[path] = v
		}
	}
	want := map[string]any{"a.b.c": "x", "a.b.d": "y", "a.b": "z", "n": nil}
	if diff := cmp.Diff(want, got); diff != "" || !maps.Equal(got, want) {
		t.Errorf("-want +got\n%s", diff)
	}
}
