package agents_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// TestOrigins: where an agent is, by its card and its interfaces, in one spelling.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]agents.Config{
		"https://a.example": {Card: card.Config{URL: "HTTPS://A.example:443/card.json"}},
		"http://a.example:8080 https://b.example:50051 http://c.example https://d.example": {
			Card: card.Config{URL: "http://a.example:8080/card.json"},
			Interfaces: []card.InterfaceConfig{
				{URL: "b.example:50051"}, {URL: "grpc://c.example"}, {URL: "grpcs://d.example:443"}, {URL: "https://d.example/rpc"},
			},
		},
		"": {},
	} {
		if got := strings.Join(c.Origins(), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What one of two agents at an origin is given is for its own interface; where it is alone
// there, for the origin.
func TestAssertionsAreForOneAgent(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
			s.Agent.Credentials = []credentials.Credential{{Header: "X-Assertion", Assertion: &credentials.Assertion{}}}
			s.Upstream.Sign = func(_ string, payload []byte) (string, error) {
				return "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".", nil
			}
			if shared {
				s.More = []agents.Config{{ID: "other", Card: card.Config{URL: secret.URL(strings.Replace(string(s.Agent.Card.URL), "/card", "/card?other", 1))}}}
			}
		})
		if got := w.Call("alice", "SendMessage", proxytest.Message("")); got.Status != 200 {
			t.Fatalf("%+v", got)
		}
		_, rest, _ := strings.Cut(w.Agent.One(t).Header.Get("X-Assertion"), ".")
		payload, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(rest, "."))
		proxytest.Must(t, err)
		var claims struct {
			Audience string `json:"aud"`
		}
		proxytest.Must(t, json.Unmarshal(payload, &claims))
		want := w.Agent.URL
		if shared {
			want += "/rpc"
		}
		if claims.Audience != want {
			t.Errorf("another agent there: %t: for %q, want %q", shared, claims.Audience, want)
		}
	}
}
