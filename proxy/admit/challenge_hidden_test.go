package admit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// hiddenPaths are below an agent's base: what is there, on every binding, what is
// nowhere, and what another agent has.
func hiddenPaths() []string {
	return []string{
		"", "/", "/message:send", "/message:stream", "/v1/message:send", "/tasks", "/tasks/x", "/v1/tasks/x", "/tasks/x:cancel",
		"/tasks/x:subscribe", "/tasks/x/pushNotificationConfigs", "/extendedAgentCard", "/v1/card", "/none",
		"/.well-known/agent-card.json", "/.well-known/agent.json", "/skills/read", "/skills/read/message:send", "/skills/none",
		"/skills/none/message:send", "/skills/read/.well-known/agent-card.json",
	}
}

// hiddenBodies are calls, from good ones to what can hardly be read.
func hiddenBodies() []string {
	return []string{
		proxytest.RPCBody("SendMessage", proxytest.Message("")), proxytest.RPCBody("message/stream", proxytest.Ask{Method: wire.SendMessage}.Message(proxytest.RPC03)),
		proxytest.RPCBody("tasks/send", proxytest.Ask{Method: wire.SendMessage, Task: "x"}.Message(proxytest.RPC01)), proxytest.RPCBody("GetTask", `{"id":"x"}`),
		proxytest.RPCBody("GetExtendedAgentCard", `{}`), proxytest.RPCBody("Nothing", `{}`), proxytest.RPCBody("SendMessage", `[]`), proxytest.Message(""), `{"jsonrpc":"2.0"}`, `{`,
	}
}

// TestHiddenAgent: to a caller who has no business with an agent, every answer about it
// is, byte for byte, that of one that does not exist. So it is to one who shows nothing,
// or nothing good.
func TestHiddenAgent(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(s *proxytest.Setup) {
		s.Agent.Card.Visibility = card.Caller
		s.Bound = map[string]string{"bound": "other"}
		s.Policy.Rules = append(s.Policy.Rules, policy.Rule{Name: "bound", Effect: "allow", Subjects: []string{"bound"}})
	})
	for name, lines := range map[string][]string{
		"no rule": g.bearer("stranger", nil), "a scope away": g.bearer("distant", nil), "denied": {"X-Api-Key: " + g.Keys["mallory"]},
		"good for another": {"X-Api-Key: " + g.Keys["bound"]}, "nothing": nil, "bad": {"Authorization: Bearer x"},
		"two": append(g.bearer("alice", nil), "X-Api-Key: "+g.Keys["alice"]),
	} {
		for _, path := range hiddenPaths() {
			for _, verb := range []string{"GET", "HEAD", "POST", "DELETE", "PUT"} {
				g.bothHidden(t, name, verb, path, "", lines)
			}
			for i, body := range hiddenBodies() {
				version := []string{"A2A-Version: 1.0", "A2A-Version: 0.3", "A2A-Version: 2.0", "Accept: text/event-stream",
					"A2A-Extensions: urn:declared"}[i%5]
				g.bothHidden(t, name, "POST", path, body, append([]string{version}, lines...))
			}
		}
	}
	g.Agent.Silent(t, "hidden")
}

// TestHiddenTenant: the same where the agent is named in the call.
func TestHiddenTenant(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for name, lines := range map[string][]string{
		"no rule": g.bearer("stranger", nil), "a scope away": g.bearer("distant", nil), "nothing": nil, "bad": {"Authorization: Bearer x"},
	} {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				heard := func(agent string) string {
					base := g.Gateway.URL + "/a2a"
					return plain(g.Speak("", base, s, proxytest.Ask{Method: method, Header: lines, More: fmt.Sprintf(`,"tenant":%q`, agent)}))
				}
				if diff := cmp.Diff(strings.ReplaceAll(heard("rec"), "rec", "nil"), heard("nil")); diff != "" {
					t.Errorf("%s, %s %s (-is there +is not):\n%s", name, s, method, diff)
				}
			}
		}
	}
	g.Agent.Silent(t, "hidden")
}

// bothHidden asks for the agent and for none of a name as long, and compares.
func (g *gate) bothHidden(t *testing.T, name, verb, path, body string, lines []string) {
	t.Helper()
	heard := func(agent string) string {
		got := g.Do("", verb, g.Gateway.URL+"/agents/"+agent+path, body, lines...)
		return plain(proxytest.Reply{Response: got})
	}
	there := heard("rec")
	if diff := cmp.Diff(strings.ReplaceAll(there, "/agents/rec", "/agents/nil"), heard("nil")); diff != "" {
		t.Errorf("%s, %s %s %s (-is there +is not):\n%s", name, verb, path, body, diff)
	}
	if strings.HasPrefix(there, "2") && !strings.Contains(there, `"error"`) {
		t.Errorf("%s, %s %s %s: %s", name, verb, path, body, there)
	}
}

// plain is an answer without what differs between any two.
func plain(s proxytest.Reply) string {
	h := s.Header.Clone()
	h.Del("Date")
	h.Del("X-Request-Id")
	var b strings.Builder
	_, _ = fmt.Fprintln(&b, s.Status)
	_ = h.Write(&b) // in the order of names
	return b.String() + s.Body
}
