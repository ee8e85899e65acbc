package forward_test

import (
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestAuthorizationOwnOnly: nobody's task is answered in behalf of somebody else, or by
// a call that is no message and may not be one.
func TestAuthorizationOwnOnly(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges, func(s *proxytest.Setup) {
		s.Bound = map[string]string{"tied": "rec", "reader": "rec"}
		s.Policy.Tasks.Scope = "agent"
		s.Policy.Rules = append(s.Policy.Rules, policy.Rule{
			Name: "read", Effect: "allow", Subjects: []string{"reader"}, Methods: []string{"GetTask", "SendStreamingMessage"},
		})
	})
	w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		r.Say(rw, proxytest.Words{Side: proxytest.RPC10}.Task("r", "working", "", ""))
	})
	w.Speak("reader", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendStreamingMessage}).OK(t, "the reader's")
	w.Agent.Take()
	waiting(w)
	for what, call := range map[string]struct {
		who string
		ask proxytest.Ask
	}{
		"shared":           {"alice", proxytest.Ask{Method: wire.GetTask, Task: "t"}},
		"shared, message":  {"alice", proxytest.Ask{Method: wire.SendMessage, Task: "t"}},
		"shared, stream":   {"alice", proxytest.Ask{Method: wire.SendStreamingMessage, Task: "t"}},
		"shared, listener": {"alice", proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"}},
		"reader":           {"reader", proxytest.Ask{Method: wire.GetTask, Task: "r"}},
		"cancel":           {"tied", proxytest.Ask{Method: wire.CancelTask, Task: "t"}},
	} {
		got := w.Speak(call.who, w.Base, proxytest.RPC10, call.ask).OK(t, what)
		if seen := w.Agent.Take(); len(seen) != 1 || !asksStill(got) {
			t.Errorf("%s: the agent heard %d calls, the caller %s", what, len(seen), got.Docs)
		}
	}
	if asked := e.take(); len(asked) != 0 {
		t.Errorf("tokens were asked for: %v", asked)
	}
	if got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: "t"}).OK(t, "owner"); asksStill(got) {
		t.Errorf("the owner: %s", got.Docs)
	}
}
