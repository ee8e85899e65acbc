package interop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// exchange: the callers are users of one provider, the agent takes the tokens of another
// one only, which knows the first one's users by other names.
func (i *identity) exchange(t *testing.T) {
	theirs := startProvider(t, i.issuer.URL)
	r, agent := recorder(t, "agent", `    credentials:`, fmt.Sprintf(`      - exchange: {tokenURL: %q, clientID: gateway, `+
		`clientSecret: gateway-secret, actor: client, resource: ["https://ledger.example"], `+
		`permissions: {scopes: {a2a.invoke: [work]}}}`, theirs.URL+"/token"))
	g := i.start(t, house{agents: agent})
	alice, bob := i.issuer.user(t, "alice", "basic"), i.issuer.user(t, "bob", "basic")
	carol := i.issuer.user(t, "carol", "basic") // nobody there

	g.want(t, "alice", bearer(alice), http.StatusOK)
	g.want(t, "bob", bearer(bob), http.StatusOK)
	g.want(t, "alice again", bearer(alice), http.StatusOK)
	if status := g.status(t, http.DefaultClient, "agent", bearer(carol)); status == http.StatusOK {
		t.Error("carol, who is nobody at the other provider, was let through")
	}

	got := shown(r)
	if len(got) != 3 {
		t.Fatalf("the agent received %d calls, want 3", len(got))
	}
	if got[0] == got[1] || got[0] != got[2] {
		t.Error("a token must be of one caller, and kept for it")
	}
	for n, want := range []map[string]any{
		{"sub": "a.liddell", "aud": "https://ledger.example", "iss": theirs.URL, "scope": "work",
			"client_id": "gateway", "act": map[string]any{"sub": "gateway"}},
		{"sub": "b.tables", "aud": "https://ledger.example", "iss": theirs.URL, "scope": "work",
			"client_id": "gateway", "act": map[string]any{"sub": "gateway"}},
	} {
		if d := cmp.Diff(want, theirs.lasting(t, got[n])); d != "" {
			t.Errorf("the agent was shown other claims (-want +got):\n%s", d)
		}
		// Nor is it good where it was exchanged: the gateway takes the caller's issuer only.
		g.want(t, "the agent's token at the gateway", bearer(got[n]), http.StatusUnauthorized)
	}
	g.keptFrom(t, r, alice, bob, carol)
	g.unsaid(t, append(got, alice, bob, carol)...)
}

// exchangeAssertions: the provider never heard of the callers' issuer. It trusts the
// gateway's keys, and the gateway knows who its callers are there.
func (i *identity) exchangeAssertions(t *testing.T) {
	theirs := startProvider(t, "")
	r, agent := recorder(t, "agent", `    credentials:`, fmt.Sprintf(`      - exchange: {tokenURL: %q, clientID: gateway, `+
		`clientSecret: gateway-secret, subject: assertion, actor: assertion, resource: ["https://ledger.example"], `+
		`identity: {subjects: {alice: a.liddell}}, permissions: {always: [work]}}`, theirs.URL+"/token"))
	g := i.start(t, house{agents: agent})
	theirs.take(t, g)
	alice, bob := i.issuer.user(t, "alice", "basic"), i.issuer.user(t, "bob", "basic")
	g.want(t, "alice", bearer(alice), http.StatusOK)
	if status := g.status(t, http.DefaultClient, "agent", bearer(bob)); status == http.StatusOK {
		t.Error("bob, who is nobody there, was let through")
	}
	got := shown(r)
	if len(got) != 1 {
		t.Fatalf("the agent received %d calls, want 1", len(got))
	}
	want := map[string]any{"sub": "a.liddell", "aud": "https://ledger.example", "iss": theirs.URL, "scope": "work",
		"client_id": "gateway", "act": map[string]any{"sub": "interop"}}
	if d := cmp.Diff(want, theirs.lasting(t, got[0])); d != "" {
		t.Errorf("the agent was shown other claims (-want +got):\n%s", d)
	}
	g.keptFrom(t, r, alice, bob)
	g.unsaid(t, append(got, alice, bob)...)
}

// ownToken: the gateway gets a token of its own for an agent, the same for all callers.
func (i *identity) ownToken(t *testing.T) {
	theirs := startProvider(t, "")
	r, agent := recorder(t, "agent", `    credentials:`, fmt.Sprintf(`      - {header: X-Agent-Token, oauth2: {tokenURL: %q, `+
		`clientID: gateway, clientSecret: gateway-secret, scopes: [work]}}`, theirs.URL+"/token"))
	g := i.start(t, house{agents: agent})
	alice, bob := i.issuer.user(t, "alice", "basic"), i.issuer.user(t, "bob", "basic")
	g.want(t, "alice", bearer(alice), http.StatusOK)
	g.want(t, "bob", bearer(bob), http.StatusOK)
	var got []string
	for _, request := range r.Requests() {
		got = append(got, request.Header.Get("X-Agent-Token"))
	}
	if len(got) != 2 || got[0] != got[1] {
		t.Fatalf("the agent was shown %d tokens, or different ones", len(got))
	}
	claims := theirs.claims(t, got[0])
	if claims["sub"] != "gateway" || claims["iss"] != theirs.URL || claims["scope"] != "work" {
		t.Errorf("the agent was shown %v", claims)
	}
	g.keptFrom(t, r, alice, bob)
	g.unsaid(t, append(got, alice, bob)...)
}

// shown are the bearer tokens that an agent was shown.
func shown(r *gatewaytest.Recorder) []string {
	var all []string
	for _, request := range r.Requests() {
		token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		all = append(all, token)
	}
	return all
}

// keptFrom checks that an agent saw nothing of tokens.
func (g *gateway) keptFrom(t *testing.T, r *gatewaytest.Recorder, tokens ...string) {
	t.Helper()
	for _, request := range r.Requests() {
		for _, token := range tokens {
			if bytes.Contains(request.Raw, []byte(token)) {
				t.Error("the agent saw the caller's own token")
			}
		}
	}
}

// unsaid checks that the gateway's log has no token in it, nor a part that is worth
// having.
func (g *gateway) unsaid(t *testing.T, tokens ...string) {
	t.Helper()
	log := g.log.tail(1 << 24)
	for _, token := range append(tokens, "gateway-secret", "resource-secret") {
		if strings.Contains(log, token) || strings.Contains(log, token[max(0, len(token)-40):]) {
			t.Errorf("the log has a secret: %.20s…", token)
		}
	}
}

// lasting are the claims of a token but for those that differ each time.
func (p provider) lasting(t *testing.T, token string) map[string]any {
	t.Helper()
	claims := p.claims(t, token)
	for _, name := range []string{"jti", "iat", "exp"} {
		delete(claims, name)
	}
	return claims
}

// claims verifies a token as an agent of the provider would, by its JWK set.
func (p provider) claims(t *testing.T, token string) map[string]any {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/jwks", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var keys jose.JSONWebKeySet
	if err := json.NewDecoder(response.Body).Decode(&keys); err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatalf("%.20s…: %v", token, err)
	}
	payload, err := signed.Verify(keys)
	if err != nil {
		t.Fatalf("%.20s…: %v", token, err)
	}
	claims := map[string]any{}
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}
