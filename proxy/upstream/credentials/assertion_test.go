package credentials

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// signing is Options with a key, and what opens what it signed.
func signing(t testing.TB) (Options, func(token string) map[string]any) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	must(t, err)
	o := Options{Issuer: "https://gateway.example", Gateway: "gw-1", Sign: func(typ string, payload []byte) (string, error) {
		if typ != "JWT" {
			return "", fmt.Errorf("typ %q", typ)
		}
		jws, err := s.Sign(payload)
		if err != nil {
			return "", err
		}
		return jws.CompactSerialize()
	}}
	return o, func(token string) map[string]any {
		t.Helper()
		jws, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
		must(t, err)
		payload, err := jws.Verify(key.Public())
		must(t, err)
		var claims map[string]any
		must(t, json.Unmarshal(payload, &claims))
		return claims
	}
}

// timeless takes the claims out that are different each time, and checks them.
func timeless(t *testing.T, claims map[string]any, lifetime time.Duration) map[string]any {
	t.Helper()
	iat, _ := claims["iat"].(float64)
	nbf, _ := claims["nbf"].(float64)
	exp, _ := claims["exp"].(float64)
	if age := time.Since(time.Unix(int64(iat), 0)); age < -time.Second || age > time.Minute || nbf != iat || exp != iat+lifetime.Seconds() {
		t.Errorf("iat %v, nbf %v, exp %v", iat, nbf, exp)
	}
	if jti, _ := claims["jti"].(string); len(jti) < 16 {
		t.Errorf("jti %q", jti)
	}
	for _, name := range []string{"iat", "nbf", "exp", "jti"} {
		delete(claims, name)
	}
	return claims
}

// delegate is alice, called for by an actor and a workload, in a call that has everything.
func delegate(t *testing.T) *Caller {
	t.Helper()
	c := alice()
	c.Principal.Tenant, c.Principal.ACR, c.Principal.AMR = "acme", "urn:mfa", []string{"pwd", "otp"}
	c.Principal.AuthTime = time.Unix(1_700_000_000, 5)
	c.Principal.Actors = []authn.Actor{{Subject: "planner", Issuer: "https://idp.example"}, {Subject: "desk", Issuer: "https://desk.example"}}
	c.Principal.Workload = &authn.Principal{Subject: "spiffe://example/app", Issuer: "mtls", Method: "mtls"}
	target, err := url.Parse("https://Agent.example:443/a2a?x=y")
	must(t, err)
	c.Target, c.Skills, c.Task, c.Context, c.Extensions = target, []string{"refund"}, "task-1", "ctx-1", []string{"https://x.example/v1"}
	return c
}

// TestAssertion: what the gateway says of a call, claim by claim.
func TestAssertion(t *testing.T) {
	t.Parallel()
	o, open := signing(t)
	u, err := made([]Credential{{Header: "x-assertion", Assertion: &Assertion{}}}, o)
	must(t, err)
	t.Cleanup(u.Close)
	h := http.Header{}
	must(t, u.Authorize(t.Context(), h, delegate(t)))
	type object = map[string]any
	want := object{
		"iss": "https://gateway.example", "sub": "alice", "aud": "https://agent.example", "client_id": "app",
		"scope": "billing.write billing.read", "groups": []any{"finance"}, "tenant": "acme",
		"acr": "urn:mfa", "amr": []any{"pwd", "otp"}, "auth_time": 1.7e9,
		"sub_id": object{"format": "iss_sub", "iss": "https://idp.example", "sub": "alice"},
		"act": object{"sub": "gw-1", "iss": "https://gateway.example", "act": object{
			"sub": "spiffe://example/app", "iss": "mtls", "act": object{
				"sub": "planner", "iss": "https://idp.example", "act": object{"sub": "desk", "iss": "https://desk.example"},
			},
		}},
		"a2a": object{
			"agent": "billing", "method": "SendMessage", "skills": []any{"refund"}, "task": "task-1", "context": "ctx-1",
			"extensions": []any{"https://x.example/v1"},
		},
	}
	if diff := cmp.Diff(want, timeless(t, open(h.Get("X-Assertion")), time.Minute)); diff != "" {
		t.Error(diff)
	}
}

// TestAssertionAudience: of agents at one origin none can show another what it was given.
func TestAssertionAudience(t *testing.T) {
	t.Parallel()
	o, open := signing(t)
	u, err := made([]Credential{{Header: "x-assertion", Assertion: &Assertion{}}}, o)
	must(t, err)
	t.Cleanup(u.Close)
	for _, tt := range []struct {
		target string
		shared bool
		want   string
	}{
		{"https://Agent.example:443/a2a?x=y", false, "https://agent.example"},
		{"https://Agent.example:443/a2a?x=y", true, "https://agent.example/a2a"},
		{"https://u:p@agent.example:8443/a%2Fb/rpc/#f", true, "https://agent.example:8443/a%2Fb/rpc/"},
		{"https://agent.example", true, "https://agent.example"},
	} {
		c := delegate(t)
		c.Target, err = url.Parse(tt.target)
		must(t, err)
		c.Shared = tt.shared
		h := http.Header{}
		must(t, u.Authorize(t.Context(), h, c))
		if got := timeless(t, open(h.Get("X-Assertion")), time.Minute)["aud"]; got != tt.want {
			t.Errorf("%s, shared %t: aud %v, want %s", tt.target, tt.shared, got, tt.want)
		}
	}
}

// TestAssertionMapped: what the configuration says goes, and nothing is said that is not
// known.
func TestAssertionMapped(t *testing.T) {
	t.Parallel()
	o, open := signing(t)
	o.Gateway = ""
	u, err := made([]Credential{{Assertion: &Assertion{
		Audience: "billing", Lifetime: quantity.Duration(2 * time.Minute),
		Identity:    &Identity{Claim: "email", Subjects: map[string]string{"alice@example.com": "al"}},
		Permissions: &Permissions{Scopes: map[string][]string{"billing.read": {"read"}}},
	}}}, o)
	must(t, err)
	t.Cleanup(u.Close)
	c := alice()
	c.Principal.Groups = nil
	got, err := authorizedAs(t, u, c)
	must(t, err)
	type object = map[string]any
	want := object{
		"iss": "https://gateway.example", "sub": "al", "aud": "billing", "client_id": "app", "scope": "read",
		"sub_id": object{"format": "iss_sub", "iss": "https://idp.example", "sub": "alice"},
		"act":    object{"sub": "https://gateway.example", "iss": "https://gateway.example"},
		"a2a":    object{"agent": "billing", "method": "SendMessage"},
	}
	token, ok := strings.CutPrefix(got, "Bearer ")
	if diff := cmp.Diff(want, timeless(t, open(token), 2*time.Minute)); diff != "" || !ok {
		t.Error(got, diff)
	}
	again, err := authorizedAs(t, u, c)
	must(t, err)
	if again == got {
		t.Error("one assertion for two calls")
	}
	c.Principal.Scopes = nil
	if got, err := authorizedAs(t, u, c); !errors.Is(err, ErrNobody) || got != "" {
		t.Errorf("without permission: %q, %v", got, err)
	}
}

// TestAssertionErrors: what cannot be said is not said.
func TestAssertionErrors(t *testing.T) {
	t.Parallel()
	signs, _ := signing(t)
	for name, tt := range map[string]struct {
		o      Options
		edit   func(*Caller)
		nobody bool
	}{
		"no key":       {Options{Issuer: "i"}, func(c *Caller) { c.Target = &url.URL{Scheme: "https", Host: "a"} }, false},
		"nowhere":      {signs, func(*Caller) {}, false},
		"no principal": {signs, func(c *Caller) { c.Principal = nil }, true},
		"endless chain": {signs, func(c *Caller) {
			c.Target = &url.URL{Scheme: "https", Host: "a"}
			c.Principal.Actors = make([]authn.Actor, 33)
		}, true},
		"a task id of junk": {signs, func(c *Caller) { c.Target = &url.URL{Scheme: "https", Host: "a"}; c.Task = "\xff" }, false},
	} {
		u, err := made([]Credential{{Assertion: &Assertion{}}}, tt.o)
		must(t, err)
		t.Cleanup(u.Close)
		c := alice()
		tt.edit(c)
		if got, err := authorizedAs(t, u, c); err == nil || got != "" || errors.Is(err, ErrNobody) != tt.nobody {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestExchangeAssertions: tokens that the gateway signs for the authorization server.
func TestExchangeAssertions(t *testing.T) {
	t.Parallel()
	o, open := signing(t)
	s := newTokenServer(t)
	u, err := made([]Credential{exchangeAt(s, func(x *Exchange) {
		x.Subject, x.Actor = subjectAssertion, actorAssertion
		x.Identity = &Identity{Claim: "email"}
	})}, o)
	must(t, err)
	t.Cleanup(u.Close)
	for range 2 { // the second finds the token of the first
		c := delegate(t)
		c.Token, c.Principal.Method = "a2a_key", "api-key"
		_, err = authorizedAs(t, u, c)
		must(t, err)
	}
	requests := s.take()
	if len(requests) != 1 {
		t.Fatalf("%d requests", len(requests))
	}
	form := requests[0].Form
	if form.Get("subject_token_type") != typeJWT || form.Get("actor_token_type") != typeJWT {
		t.Errorf("%v", form)
	}
	type object = map[string]any
	if diff := cmp.Diff(object{
		"iss": "https://gateway.example", "sub": "alice@example.com", "aud": s.URL + "/token", "client_id": "app", "tenant": "acme",
		"acr": "urn:mfa", "amr": []any{"pwd", "otp"}, "auth_time": 1.7e9,
		"sub_id": object{"format": "iss_sub", "iss": "https://idp.example", "sub": "alice"},
		"act": object{"sub": "spiffe://example/app", "iss": "mtls", "act": object{
			"sub": "planner", "iss": "https://idp.example", "act": object{"sub": "desk", "iss": "https://desk.example"},
		}},
	}, timeless(t, open(form.Get("subject_token")), time.Minute)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(object{"iss": "https://gateway.example", "sub": "gw-1", "aud": s.URL + "/token"},
		timeless(t, open(form.Get("actor_token")), time.Minute)); diff != "" {
		t.Error(diff)
	}
}
