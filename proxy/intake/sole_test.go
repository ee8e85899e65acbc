package intake_test

import (
	"context"
	"strings"
	"testing"

	a2apb03 "github.com/a2aproject/a2a-go/a2apb"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestOnlyAgentIsAtTheOrigin: clients that drop the path of an agent's URL reach the only
// agent there is, by the same rules and in the same way as below its own path.
func TestOnlyAgentIsAtTheOrigin(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Card.Visibility = card.Public })
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/"} {
		got, want := w.Do("", "GET", w.URL+path, ""), w.Do("", "GET", path, "")
		if got.Status != 200 || got.Body != want.Body {
			t.Errorf("%s: %d %s, want %s", path, got.Status, got.Body, want.Body)
		}
	}
	for path, body := range map[string]string{
		"/": proxytest.RPCBody("SendMessage", proxytest.Message("")), "/message:send": proxytest.Message(""), "/message:stream": proxytest.Message(""),
		"/v1/message:send":   proxytest.RPCBody("SendMessage", proxytest.Message("")),
		"/skills/read/":      proxytest.RPCBody("SendMessage", proxytest.Message("")),
		"/skills/write%20it": proxytest.RPCBody("SendMessage", proxytest.Message("")),
	} {
		for who, want := range map[string]int{"alice": 200, "mallory": 404, "": 401} {
			got, below := w.Do(who, "POST", w.URL+path, body, "A2A-Version: 1.0"), w.Do(who, "POST", path, body, "A2A-Version: 1.0")
			if got.Status != below.Status || strings.Contains(got.Body, "task-") != (want == 200) || strings.Contains(below.Body, "task-") != (want == 200) {
				t.Errorf("%s: %q: %d %s\nbelow /agents: %d %s", path, who, got.Status, got.Body, below.Status, below.Body)
			}
		}
	}
	w.Agent.Take()
	proxytest.WantStatus(t, "nothing", w.Do("alice", "GET", w.URL+"/nothing", ""), 404)
	proxytest.WantStatus(t, "no such agent", w.Do("alice", "GET", w.URL+"/agents/none/", ""), 404)
	// The gateway's own paths stay its own.
	if got := w.Do("", "GET", w.URL+"/.well-known/oauth-protected-resource", ""); !strings.Contains(got.Body, `"resource":"`+w.URL+`"`) {
		t.Errorf("metadata: %d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "refused")
}

// TestSeveralAgentsAreNotAtTheOrigin: with two agents there is none at the root, which says
// where they are.
func TestSeveralAgentsAreNotAtTheOrigin(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{{Name: "all", Effect: "allow"}}
	}, andAnother)
	for _, path := range []string{"/", "/.well-known/agent-card.json", "/.well-known/agent.json"} {
		if got := w.Do("alice", "GET", w.URL+path, ""); got.Status != 404 || !strings.Contains(got.Body, "agents are below /agents/") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	proxytest.WantStatus(t, "HTTP+JSON", w.Do("alice", "POST", w.URL+"/message:send", proxytest.Message(""), "A2A-Version: 1.0"), 404)
	if got := w.Do("alice", "POST", w.URL+"/", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"); strings.Contains(got.Body, "result") || !strings.Contains(got.Body, "agents are below /agents/") {
		t.Errorf("JSON-RPC: %d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "the root")
}

// andAnother adds an agent, "two", which is the same one under another name.
func andAnother(s *proxytest.Setup) {
	s.Docs = map[string]func(string) string{"two": proxytest.Card}
	s.More = []agents.Config{{ID: "two"}}
	s.More[0].Card.URL = secret.URL(strings.Replace(string(s.Agent.Card.URL), "/card", "/card?two", 1))
}

// TestOnlyAgentOverGRPC: a call over gRPC that names no agent is for the only one there is,
// or for the one that has the gateway's own host, by the same rules as one that names it.
func TestOnlyAgentOverGRPC(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  []func(*proxytest.Setup)
		nobody  codes.Code // to alice, who names none
		another codes.Code // who names "two"
	}{
		"one":                      {nil, codes.OK, codes.NotFound},
		"one with a host":          {[]func(*proxytest.Setup){hosted("rec.example")}, codes.OK, codes.NotFound},
		"two":                      {[]func(*proxytest.Setup){andAnother}, codes.InvalidArgument, codes.OK},
		"two, one with a host":     {[]func(*proxytest.Setup){andAnother, hosted("rec.example")}, codes.InvalidArgument, codes.OK},
		"two, one with the origin": {[]func(*proxytest.Setup){andAnother, hosted("127.0.0.1")}, codes.OK, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10, proxytest.GRPC03), append(tt.change, func(s *proxytest.Setup) {
				s.Policy.Rules = []policy.Rule{{Name: "alice", Effect: "allow", Subjects: []string{"alice"}}}
			})...)
			wantNameless(w, "alice", tt.nobody)
			others := map[bool]codes.Code{true: codes.NotFound, false: tt.nobody}[tt.nobody == codes.OK]
			wantNameless(w, "mallory", others)
			wantNameless(w, "", codes.Unauthenticated)
			for tenant, want := range map[string]codes.Code{"rec": codes.OK, "two": tt.another, "none": codes.NotFound} {
				named := proxytest.Hello()
				named.Tenant = tenant
				if _, err := a2apb.NewA2AServiceClient(w.GRPCClient()).SendMessage(w.As("alice"), named); status.Code(err) != want {
					t.Errorf("tenant %q: %v, want %s", tenant, err, want)
				}
			}
		})
	}
}

// hosted has the agent have a host.
func hosted(host string) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) { s.Agent.Hosts = []string{host} }
}

// wantNameless calls over gRPC in both versions, and names no agent.
func wantNameless(w *proxytest.Gateway, who string, want codes.Code) {
	w.Helper()
	ctx := context.Background()
	if who != "" {
		ctx = w.As(who)
	}
	conn := w.GRPCClient()
	nameless := proxytest.Hello()
	nameless.Tenant = ""
	sent, err := a2apb.NewA2AServiceClient(conn).SendMessage(ctx, nameless)
	if status.Code(err) != want || (sent.GetTask().GetId() != "") != (want == codes.OK) {
		w.Errorf("1.0, %q: %v %v, want %s", who, sent, err, want)
	}
	old := &a2apb03.Message{MessageId: "m", Role: a2apb03.Role_ROLE_USER, Parts: []*a2apb03.Part{{Part: &a2apb03.Part_Text{Text: "hi"}}}}
	made, err := a2apb03.NewA2AServiceClient(conn).SendMessage(ctx, &a2apb03.SendMessageRequest{Request: old})
	if status.Code(err) != want || (made.GetTask().GetId() != "") != (want == codes.OK) {
		w.Errorf("0.3, %q: %v %v, want %s", who, made, err, want)
	}
}
