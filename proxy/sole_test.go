package proxy_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
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
		s.docs = map[string]func(string) string{"two": cardOf}
		s.more = []proxy.AgentConfig{{ID: "two"}}
	}, func(s *setup) {
		s.more[0].Card.URL = secret.URL(strings.Replace(string(s.agent.Card.URL), "/card", "/card?two", 1))
	})
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
