package proxy_test

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
)

// TestOnlyAgentIsAtTheOrigin: clients that drop the path of an agent's URL reach the only
// agent there is, by the same rules and in the same way as below its own path.
func TestOnlyAgentIsAtTheOrigin(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) { s.agent.Card.Visibility = card.Public })
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/"} {
		got, want := w.do("", "GET", w.url+path, ""), w.do("", "GET", path, "")
		if got.status != 200 || got.body != want.body {
			t.Errorf("%s: %d %s, want %s", path, got.status, got.body, want.body)
		}
	}
	for path, body := range map[string]string{
		"/": rpcBody("SendMessage", message("")), "/message:send": message(""), "/message:stream": message(""),
		"/v1/message:send":   rpcBody("SendMessage", message("")),
		"/skills/read/":      rpcBody("SendMessage", message("")),
		"/skills/write%20it": rpcBody("SendMessage", message("")),
	} {
		for who, want := range map[string]int{"alice": 200, "mallory": 404, "": 401} {
			got, below := w.do(who, "POST", w.url+path, body, "A2A-Version: 1.0"), w.do(who, "POST", path, body, "A2A-Version: 1.0")
			if got.status != below.status || strings.Contains(got.body, "task-") != (want == 200) || strings.Contains(below.body, "task-") != (want == 200) {
				t.Errorf("%s: %q: %d %s\nbelow /agents: %d %s", path, who, got.status, got.body, below.status, below.body)
			}
		}
	}
	w.agent.take()
	wantStatus(t, "nothing", w.do("alice", "GET", w.url+"/nothing", ""), 404)
	wantStatus(t, "no such agent", w.do("alice", "GET", w.url+"/agents/none/", ""), 404)
	// The gateway's own paths stay its own.
	if got := w.do("", "GET", w.url+"/.well-known/oauth-protected-resource", ""); !strings.Contains(got.body, `"resource":"`+w.url+`"`) {
		t.Errorf("metadata: %d %s", got.status, got.body)
	}
	w.agent.silent(t, "refused")
}

// TestSeveralAgentsAreNotAtTheOrigin: with two agents there is none at the root, which says
// where they are.
func TestSeveralAgentsAreNotAtTheOrigin(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) {
		s.policy.Rules = []policy.Rule{{Name: "all", Effect: "allow"}}
	}, andAnother)
	for _, path := range []string{"/", "/.well-known/agent-card.json", "/.well-known/agent.json"} {
		if got := w.do("alice", "GET", w.url+path, ""); got.status != 404 || !strings.Contains(got.body, "agents are below /agents/") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	wantStatus(t, "HTTP+JSON", w.do("alice", "POST", w.url+"/message:send", message(""), "A2A-Version: 1.0"), 404)
	if got := w.do("alice", "POST", w.url+"/", rpcBody("SendMessage", message("")), "A2A-Version: 1.0"); strings.Contains(got.body, "result") || !strings.Contains(got.body, "agents are below /agents/") {
		t.Errorf("JSON-RPC: %d %s", got.status, got.body)
	}
	w.agent.silent(t, "the root")
}

// andAnother adds an agent, "two", which is the same one under another name.
func andAnother(s *setup) {
	s.docs = map[string]func(string) string{"two": cardOf}
	s.more = []agents.Config{{ID: "two"}}
	s.more[0].Card.URL = secret.URL(strings.Replace(string(s.agent.Card.URL), "/card", "/card?two", 1))
}

// TestOnlyAgentOverGRPC: a call over gRPC that names no agent is for the only one there is,
// or for the one that has the gateway's own host, by the same rules as one that names it.
func TestOnlyAgentOverGRPC(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  []func(*setup)
		nobody  codes.Code // to alice, who names none
		another codes.Code // who names "two"
	}{
		"one":                      {nil, codes.OK, codes.NotFound},
		"one with a host":          {[]func(*setup){hosted("rec.example")}, codes.OK, codes.NotFound},
		"two":                      {[]func(*setup){andAnother}, codes.InvalidArgument, codes.OK},
		"two, one with a host":     {[]func(*setup){andAnother, hosted("rec.example")}, codes.InvalidArgument, codes.OK},
		"two, one with the origin": {[]func(*setup){andAnother, hosted("127.0.0.1")}, codes.OK, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := in(t, speaks(grpc10, grpc03), append(tt.change, func(s *setup) {
				s.policy.Rules = []policy.Rule{{Name: "alice", Effect: "allow", Subjects: []string{"alice"}}}
			})...)
			w.wantNameless("alice", tt.nobody)
			others := map[bool]codes.Code{true: codes.NotFound, false: tt.nobody}[tt.nobody == codes.OK]
			w.wantNameless("mallory", others)
			w.wantNameless("", codes.Unauthenticated)
			for tenant, want := range map[string]codes.Code{"rec": codes.OK, "two": tt.another, "none": codes.NotFound} {
				named := hi()
				named.Tenant = tenant
				if _, err := a2apb.NewA2AServiceClient(w.grpcClient()).SendMessage(w.as("alice"), named); status.Code(err) != want {
					t.Errorf("tenant %q: %v, want %s", tenant, err, want)
				}
			}
		})
	}
}

// hosted has the agent have a host.
func hosted(host string) func(*setup) { return func(s *setup) { s.agent.Hosts = []string{host} } }

// wantNameless calls over gRPC in both versions, and names no agent.
func (w *world) wantNameless(who string, want codes.Code) {
	w.Helper()
	ctx := context.Background()
	if who != "" {
		ctx = w.as(who)
	}
	conn := w.grpcClient()
	nameless := hi()
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
