package proxy_test

import (
	"crypto/ecdsa"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// gate is a world whose callers have tokens of an issuer, or API keys.
type gate struct {
	*world
	*tokenIssuer
	proofs *ecdsa.PrivateKey // of callers whose tokens are bound
}

const ownHost = "rec.example"

// newGate builds one. By their subjects, callers may do everything, or lack one thing;
// about "stranger" and "distant" no rule says that they may do anything here.
func newGate(t testing.TB, edit ...func(*setup)) *gate {
	t.Helper()
	i := newTokenIssuer(t)
	hour := secret.Duration(time.Hour)
	w := build(t, append([]func(*setup){func(s *setup) {
		s.agent.Hosts = []string{ownHost}
		s.authn.OIDC = []authn.Issuer{i.configured()}
		s.authn.Failures.PerMinute = -1
		s.policy.Rules = append(everyone().Rules,
			policy.Rule{Name: "some", Effect: "allow", Subjects: []string{"scoped", "user@*"}, Methods: []string{"GetTask"}},
			policy.Rule{Name: "scope", Effect: "allow", Subjects: []string{"scoped", "distant"}, Scopes: []string{"book", "pay"}},
			policy.Rule{Name: "consent", Effect: "allow", Subjects: []string{"user@asked"}, Consent: &policy.Consent{Scope: "agreed"}},
			policy.Rule{Name: "claim", Effect: "allow", Subjects: []string{"user@silent"}, Consent: &policy.Consent{Claim: "agreed"}},
			policy.Rule{Name: "strong", Effect: "allow", Subjects: []string{"strong"},
				Authentication: &policy.Authentication{ACR: []string{"gold", "silver"}, MaxAge: hour}},
			policy.Rule{Name: "both", Effect: "allow", Subjects: []string{"both"}, Scopes: []string{"pay"},
				Authentication: &policy.Authentication{AMR: []string{"mfa"}}},
		)
	}}, edit...)...)
	w.agent.answers(fluent)
	w.becomes(speaks(sides...))
	return &gate{w, i, newKey(t)}
}

// bearer shows a token of a subject.
func (g *gate) bearer(subject string, more map[string]any) []string {
	return []string{"Authorization: Bearer " + g.token(subject, more)}
}

// place is where a side's calls go, what the host is called there, and the address that
// a proof is made for.
func (g *gate) place(s wire.Side, method string) (base, host, address string) {
	m := methodOf(method)
	switch s.Binding {
	case wire.GRPC:
		return g.world.url, ownHost, "http://" + ownHost + m.RPC(s.Version)
	case wire.JSONRPC:
		return g.base, "", g.base
	}
	if s.Version == wire.V03 {
		return g.base, "", g.base + "/v1" + m.Path
	}
	return g.base, "", g.base + m.Path
}

// send sends a message in the words of a side, with header lines that may depend on the
// address.
func (g *gate) send(s wire.Side, show func(address string) []string) said {
	g.world.Helper()
	base, host, address := g.place(s, wire.SendMessage)
	a := ask{method: wire.SendMessage, header: show(address)}
	if s == rpc01 {
		a.task = uuid.NewString() // 0.1's caller names it
	}
	if host != "" {
		a.header = append(a.header, "Host: "+host)
	}
	return g.speak("", base, s, a)
}

// refused is how a call ends: the kind and its message, and in which challenges
// something stands beside realm, address and the like.
type refused struct {
	name string
	show func(g *gate, address string) []string
	kind *wire.Kind
	text string
	says map[string]map[string]string // by challenge
}

// fault is a credential that is turned down: one challenge says why, and it alone.
func fault(name, challenge, code, why string, show func(g *gate, address string) []string) refused {
	return refused{name, show, wire.Unauthenticated, "Authentication required",
		map[string]map[string]string{challenge: {"error": code, "error_description": why}}}
}

// lacks is a good credential that is not enough: every challenge for tokens says what for.
func lacks(name, subject string, kind *wire.Kind, text string, says map[string]string) refused {
	return refused{name, func(g *gate, _ string) []string { return g.bearer(subject, nil) }, kind, text,
		map[string]map[string]string{"Bearer": says, "DPoP": says}}
}

// claimed shows a token of alice's with other claims.
func claimed(more map[string]any) func(*gate, string) []string {
	return func(g *gate, _ string) []string { return g.bearer("alice", more) }
}

// jws shows a token of alice's with another header.
func jws(more map[string]any) func(*gate, string) []string {
	return func(g *gate, _ string) []string {
		header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k"}
		maps.Copy(header, more)
		return []string{"Authorization: Bearer " + g.signed(g.key, header, g.claimsOf("alice", nil))}
	}
}

// bound shows a token that is bound to a key, with a proof for an address.
func bound(scheme string, prove func(g *gate, token, address string) string) func(*gate, string) []string {
	return func(g *gate, address string) []string {
		token := g.token("alice", map[string]any{"cnf": thumbprint(g.world, g.proofs)})
		lines := []string{"Authorization: " + scheme + " " + token}
		if prove != nil {
			lines = append(lines, "DPoP: "+prove(g, token, address))
		}
		return lines
	}
}

func line(lines ...string) func(*gate, string) []string {
	return func(*gate, string) []string { return lines }
}

const invalidToken, invalidProof = "invalid_token", "invalid_dpop_proof"

// allRefused is every way in which a call is refused for who makes it.
func allRefused() []refused {
	past := time.Now().Add(-time.Hour).Unix()
	stepUp := map[string]string{"error": "insufficient_user_authentication",
		"error_description": "another authentication of the user is needed", "acr_values": "gold silver", "max_age": "3600"}
	both := map[string]string{"error": "insufficient_user_authentication",
		"error_description": "another authentication of the user is needed", "scope": "pay"}
	const again = "the user has to authenticate again"
	none := refused{"nothing", line(), wire.Unauthenticated, "Authentication required", nil}
	return []refused{
		none,
		fault("no token at all", "Bearer", invalidToken, "the credential is malformed", line("Authorization: Bearer x.y")),
		fault("Basic", "Bearer", invalidToken, "no credential of this kind is accepted here", line("Authorization: Basic YTpi")),
		fault("header", "Bearer", invalidToken, "the token header holds a parameter that is not accepted", jws(map[string]any{"jku": "https://evil.example"})),
		fault("algorithm", "Bearer", invalidToken, "the token algorithm is not accepted", jws(map[string]any{"alg": "none"})),
		fault("type", "Bearer", invalidToken, "the token type is not accepted", jws(map[string]any{"typ": "logout+jwt"})),
		fault("issuer", "Bearer", invalidToken, "the token issuer is not accepted", claimed(map[string]any{"iss": "https://evil.example"})),
		fault("audience", "Bearer", invalidToken, "the token is not meant for this audience", claimed(map[string]any{"aud": "another"})),
		fault("expired", "Bearer", invalidToken, "the token has expired", claimed(map[string]any{"exp": past})),
		fault("not yet", "Bearer", invalidToken, "the token is not valid yet", claimed(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()})),
		fault("claims", "Bearer", invalidToken, "the token claims are not acceptable", claimed(map[string]any{"groups": 7})),
		fault("unknown key", "Bearer", invalidToken, "the token names a key that its issuer does not publish", jws(map[string]any{"kid": "other"})),
		fault("signature", "Bearer", invalidToken, "the token signature is not valid", func(g *gate, _ string) []string {
			header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k"}
			return []string{"Authorization: Bearer " + g.signed(g.proofs, header, g.claimsOf("alice", nil))}
		}),
		fault("bound to what is not known", "Bearer", invalidToken, "the token is bound to a proof that was not presented",
			claimed(map[string]any{"cnf": map[string]any{"kid": "x"}})),
		fault("stolen", "DPoP", invalidProof, "the token is bound to a proof that was not presented", bound("DPoP", nil)),
		fault("stolen, as if it were not bound", "Bearer", invalidToken, "the token is bound to a proof that was not presented", bound("Bearer", nil)),
		fault("not bound", "DPoP", invalidToken, "the token is not bound to its sender", func(g *gate, address string) []string {
			token := g.token("alice", nil)
			return []string{"Authorization: DPoP " + token, "DPoP: " + g.proof(g.proofs, address, token, "")}
		}),
		fault("another's proof", "DPoP", invalidToken, "the token is bound to another key than that of the DPoP proof",
			bound("DPoP", func(g *gate, token, address string) string { return g.proof(g.key, address, token, "") })),
		fault("proof for elsewhere", "DPoP", invalidProof, "the DPoP proof is for another method or address",
			bound("DPoP", func(g *gate, token, _ string) string {
				return g.proof(g.proofs, "https://elsewhere.example/", token, "")
			})),
		fault("malformed proof", "DPoP", invalidProof, "the DPoP proof is malformed",
			bound("DPoP", func(*gate, string, string) string { return "x" })),
		fault("API key", "ApiKey", invalidToken, "the API key is not known", line("X-Api-Key: a2a_x_y")),
		{"two credentials", func(g *gate, _ string) []string {
			return append(g.bearer("alice", nil), "X-Api-Key: "+g.keys["alice"])
		}, wire.Malformed, "more than one credential: send exactly one", nil},
		lacks("scope", "scoped", wire.Denied, "permission denied: missing scope book pay", map[string]string{"error": "insufficient_scope", "scope": "book pay"}),
		lacks("consent", "user@asked", wire.Denied, "permission denied: missing scope agreed", map[string]string{"error": "insufficient_scope", "scope": "agreed"}),
		lacks("step-up", "strong", wire.Unauthenticated, again, stepUp),
		lacks("step-up and scope", "both", wire.UnknownAgent, "No such agent", both),
		{"no right", func(g *gate, _ string) []string { return g.bearer("user@silent", nil) }, wire.Denied, "Permission denied", nil},
		{"no business", func(g *gate, _ string) []string { return g.bearer("stranger", nil) }, wire.UnknownAgent, "No such agent", nil},
		{"a scope away", func(g *gate, _ string) []string { return g.bearer("distant", nil) }, wire.UnknownAgent, "No such agent", nil},
	}
}

// TestChallenges: every way to be refused, in every version and binding: its kind and
// status, a message that tells nothing of the credential, and challenges as the RFCs
// have them.
func TestChallenges(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for _, tt := range allRefused() {
		for _, s := range sides {
			name := tt.name + ", " + s.String()
			got := g.send(s, func(address string) []string { return tt.show(g, address) })
			if s != grpc03 { // which has no words for some
				got.refused(t, name, tt.kind)
			}
			if got.err != nil && got.err.Message != tt.text {
				t.Errorf("%s: says %q, want %q", name, got.err.Message, tt.text)
			}
			g.checkForm(t, name, s, tt.kind, got)
			g.checkChallenges(t, name, s, tt, challenges(t, got.header))
		}
		g.agent.silent(t, tt.name)
	}
}

// checkForm looks at what is not the error's: status, id, and what caches may do.
func (g *gate) checkForm(t *testing.T, name string, s wire.Side, kind *wire.Kind, got said) {
	t.Helper()
	want := map[wire.Binding]int{wire.JSONRPC: kind.RPC, wire.HTTPJSON: kind.HTTP, wire.GRPC: 200}[s.Binding]
	if got.status != want || got.err == nil {
		t.Errorf("%s: status %d, want %d: %s", name, got.status, want, got.body)
	}
	var code codes.Code
	must(t, code.UnmarshalJSON([]byte(`"`+kind.GRPC+`"`)))
	if s.Binding == wire.GRPC && codes.Code(got.code) != code {
		t.Errorf("%s: grpc-status %d, want %s", name, got.code, code)
	}
	if s.Binding == wire.JSONRPC {
		// The body is read for callers who are somebody.
		id := `"id":7,`
		if kind == wire.Malformed || kind == wire.RateLimited || kind == wire.Unauthenticated && !strings.Contains(got.body, "again") {
			id = `"id":null,`
		}
		if !strings.Contains(got.body, id) {
			t.Errorf("%s: no %s in %s", name, id, got.body)
		}
	}
	if s.Binding != wire.GRPC && got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %v", name, got.header)
	}
}

// checkChallenges: a caller who may do better is told how, with the address of the
// document about tokens; the reason stands where it belongs and nowhere else.
func (g *gate) checkChallenges(t *testing.T, name string, s wire.Side, tt refused, got map[string]map[string]string) {
	t.Helper()
	if tt.kind == wire.UnknownAgent || tt.kind == wire.Malformed || tt.kind == wire.Denied && tt.says == nil {
		if len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
		return
	}
	metadata := g.world.url + "/.well-known/oauth-protected-resource/agents/rec"
	if s.Binding == wire.GRPC {
		metadata = "http://" + ownHost + "/.well-known/oauth-protected-resource"
	}
	want := map[string]map[string]string{
		"Bearer": {"resource_metadata": metadata},
		"DPoP":   {"resource_metadata": metadata, "algs": "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"},
		"ApiKey": {"header": "X-Api-Key"},
	}
	for scheme, params := range want {
		params["realm"] = "a2a-gateway"
		maps.Copy(params, tt.says[scheme])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestChallengesAreEnough: what a challenge asks for makes the very call work.
func TestChallengesAreEnough(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for name, show := range map[string]func(address string) []string{
		"scope":   func(string) []string { return g.bearer("scoped", map[string]any{"scope": "pay book"}) },
		"consent": func(string) []string { return g.bearer("user@asked", map[string]any{"scope": "agreed"}) },
		"claim":   func(string) []string { return g.bearer("user@silent", map[string]any{"agreed": true}) },
		"step-up": func(string) []string {
			return g.bearer("strong", map[string]any{"acr": "silver", "auth_time": time.Now().Unix()})
		},
		"proof": func(address string) []string {
			return bound("DPoP", func(g *gate, token, address string) string { return g.proof(g.proofs, address, token, "") })(g, address)
		},
		"key": func(string) []string { return []string{"X-Api-Key: " + g.keys["alice"]} },
	} {
		for _, s := range sides {
			g.send(s, show).ok(t, name+", "+s.String())
			for _, r := range g.agent.take() {
				if r.Header["Authorization"] != nil || r.Header["Dpop"] != nil || r.Header["X-Api-Key"] != nil {
					t.Errorf("%s, %s: the agent got %v", name, s, r.Header)
				}
			}
		}
	}
}

// TestChallengeNonce: a proof without the gateway's value is answered with one, which
// the next may hold; every answer to it brings another.
func TestChallengeNonce(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(s *setup) { s.authn.DPoP.Nonce = true })
	for _, s := range sides {
		nonce := ""
		show := func(address string) []string {
			return bound("DPoP", func(g *gate, token, address string) string {
				return g.proof(g.proofs, address, token, nonce)
			})(g, address)
		}
		got := g.send(s, show)
		got.refused(t, s.String(), wire.Unauthenticated)
		want := map[string]string{"error": "use_dpop_nonce", "error_description": "the DPoP proof needs the nonce of this answer"}
		for name, value := range want {
			if heard := challenges(t, got.header)["DPoP"][name]; heard != value {
				t.Errorf("%s: %s is %q", s, name, heard)
			}
		}
		if nonce = one(got.header["Dpop-Nonce"]); nonce == "" {
			t.Fatalf("%s: %v", s, got.header)
		}
		got = g.send(s, show).ok(t, s.String())
		if one(got.header["Dpop-Nonce"]) == "" {
			t.Errorf("%s: %v", s, got.header)
		}
	}
	if got := g.send(rpc10, func(string) []string { return nil }); one(got.header["Dpop-Nonce"]) == "" {
		t.Errorf("nothing shown: %v", got.header)
	}
	if got := g.send(rpc10, func(string) []string { return g.bearer("alice", nil) }); got.header["Dpop-Nonce"] != nil {
		t.Errorf("a token that needs no proof: %v", got.header)
	}
}

// one is the only one of values, "" for none or several.
func one(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}
