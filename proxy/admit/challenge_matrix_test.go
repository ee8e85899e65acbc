package admit_test

import (
	"crypto/ecdsa"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// gate is a world whose callers have tokens of an issuer, or API keys.
type gate struct {
	*proxytest.Gateway
	*tokenIssuer
	proofs *ecdsa.PrivateKey // of callers whose tokens are bound
}

const ownHost = "rec.example"

// newGate builds one. By their subjects, callers may do everything, or lack one thing;
// about "stranger" and "distant" no rule says that they may do anything here.
func newGate(t testing.TB, edit ...func(*proxytest.Setup)) *gate {
	t.Helper()
	i := newTokenIssuer(t)
	hour := quantity.Duration(time.Hour)
	w := proxytest.NewGateway(t, append([]func(*proxytest.Setup){func(s *proxytest.Setup) {
		s.Agent.Hosts = []string{ownHost}
		s.Authn.OIDC = []jwt.Issuer{i.configured()}
		s.Authn.Failures.PerMinute = -1
		s.Policy.Rules = append(proxytest.Everyone().Rules,
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
	w.Agent.Answers(proxytest.Fluent)
	w.BecomeCard(proxytest.CardFor(proxytest.Sides...))
	return &gate{w, i, newKey(t)}
}

// bearer shows a token of a subject.
func (g *gate) bearer(subject string, more map[string]any) []string {
	return []string{"Authorization: Bearer " + g.token(subject, more)}
}

// place is where a side's calls go, what the host is called there, and the address that
// a proof is made for.
func (g *gate) place(s wire.Side, method string) (base, host, address string) {
	m := proxytest.MethodOf(method)
	switch s.Binding {
	case wire.GRPC:
		return g.Gateway.URL, ownHost, "http://" + ownHost + m.RPC(s.Version)
	case wire.JSONRPC:
		return g.Base, "", g.Base
	}
	if s.Version == wire.V03 {
		return g.Base, "", g.Base + "/v1" + m.Path
	}
	return g.Base, "", g.Base + m.Path
}

// send sends a message in the words of a side, with header lines that may depend on the
// address.
func (g *gate) send(s wire.Side, show func(address string) []string) proxytest.Reply {
	g.Gateway.Helper()
	base, host, address := g.place(s, wire.SendMessage)
	a := proxytest.Ask{Method: wire.SendMessage, Header: show(address)}
	if s == proxytest.RPC01 {
		a.Task = uuid.NewString() // 0.1's caller names it
	}
	if host != "" {
		a.Header = append(a.Header, "Host: "+host)
	}
	return g.Speak("", base, s, a)
}

// TestChallenges: every way to be refused, in every version and binding: its kind and
// status, a message that tells nothing of the credential, and challenges as the RFCs
// have them.
func TestChallenges(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for _, tt := range allRefused() {
		for _, s := range proxytest.Sides {
			name := tt.name + ", " + s.String()
			got := g.send(s, func(address string) []string { return tt.show(g, address) })
			if s != proxytest.GRPC03 { // which has no words for some
				got.Refused(t, name, tt.kind)
			}
			if got.Err != nil && got.Err.Message != tt.text {
				t.Errorf("%s: says %q, want %q", name, got.Err.Message, tt.text)
			}
			if all := fmt.Sprint(got.Header, got.Body); tt.why != "" && strings.Contains(all, tt.why) {
				t.Errorf("%s: the caller reads why: %s", name, all)
			}
			g.checkForm(t, name, s, tt.kind, got)
			g.checkChallenges(t, name, s, tt, challenges(t, got.Header))
		}
		g.Agent.Silent(t, tt.name)
	}
}

// checkForm looks at what is not the error's: status, id, and what caches may do.
func (g *gate) checkForm(t *testing.T, name string, s wire.Side, kind *wire.Kind, got proxytest.Reply) {
	t.Helper()
	want := map[wire.Binding]int{wire.JSONRPC: kind.RPC, wire.HTTPJSON: kind.HTTP, wire.GRPC: 200}[s.Binding]
	if got.Status != want || got.Err == nil {
		t.Errorf("%s: status %d, want %d: %s", name, got.Status, want, got.Body)
	}
	var code codes.Code
	proxytest.Must(t, code.UnmarshalJSON([]byte(`"`+kind.GRPC+`"`)))
	if s.Binding == wire.GRPC && codes.Code(got.Code) != code {
		t.Errorf("%s: grpc-status %d, want %s", name, got.Code, code)
	}
	if s.Binding == wire.JSONRPC {
		// The body is read for callers who are somebody.
		id := `"id":7,`
		if kind == wire.Malformed || kind == wire.RateLimited || kind == wire.Unauthenticated && !strings.Contains(got.Body, "again") {
			id = `"id":null,`
		}
		if !strings.Contains(got.Body, id) {
			t.Errorf("%s: no %s in %s", name, id, got.Body)
		}
	}
	if s.Binding != wire.GRPC && got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %v", name, got.Header)
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
	metadata := g.Gateway.URL + "/.well-known/oauth-protected-resource/agents/rec"
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
		"key": func(string) []string { return []string{"X-Api-Key: " + g.Keys["alice"]} },
	} {
		for _, s := range proxytest.Sides {
			g.send(s, show).OK(t, name+", "+s.String())
			for _, r := range g.Agent.Take() {
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
	g := newGate(t, func(s *proxytest.Setup) { s.Authn.DPoP.Nonce = true })
	for _, s := range proxytest.Sides {
		nonce := ""
		show := func(address string) []string {
			return bound("DPoP", func(g *gate, token, address string) string {
				return g.proof(g.proofs, address, token, nonce)
			})(g, address)
		}
		got := g.send(s, show)
		got.Refused(t, s.String(), wire.Unauthenticated)
		want := map[string]string{"error": "use_dpop_nonce", "error_description": "the DPoP proof needs the nonce of this answer"}
		for name, value := range want {
			if heard := challenges(t, got.Header)["DPoP"][name]; heard != value {
				t.Errorf("%s: %s is %q", s, name, heard)
			}
		}
		if nonce = one(got.Header["Dpop-Nonce"]); nonce == "" {
			t.Fatalf("%s: %v", s, got.Header)
		}
		got = g.send(s, show).OK(t, s.String())
		if one(got.Header["Dpop-Nonce"]) == "" {
			t.Errorf("%s: %v", s, got.Header)
		}
	}
	if got := g.send(proxytest.RPC10, func(string) []string { return nil }); one(got.Header["Dpop-Nonce"]) == "" {
		t.Errorf("nothing shown: %v", got.Header)
	}
	if got := g.send(proxytest.RPC10, func(string) []string { return g.bearer("alice", nil) }); got.Header["Dpop-Nonce"] != nil {
		t.Errorf("a token that needs no proof: %v", got.Header)
	}
}

// one is the only one of values, "" for none or several.
func one(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}
