package proxy_test

import (
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// TestAuthorizationOwnOnly: nobody's task is answered in behalf of somebody else, or by
// a call that is no message and may not be one.
func TestAuthorizationOwnOnly(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges, func(s *setup) {
		s.bound = map[string]string{"tied": "rec", "reader": "rec"}
		s.policy.Tasks.Scope = "agent"
		s.policy.Rules = append(s.policy.Rules, policy.Rule{
			Name: "read", Effect: "allow", Subjects: []string{"reader"}, Methods: []string{"GetTask", "SendStreamingMessage"},
		})
	})
	w.given("tied", w.base, w.agent, "t", "c-t", "")
	w.agent.answers(func(rw http.ResponseWriter, r *record) { r.say(rw, words{rpc10}.task("r", "working", "", "")) })
	w.speak("reader", w.base, rpc10, ask{method: wire.SendStreamingMessage}).ok(t, "the reader's")
	w.agent.take()
	w.waiting()
	for what, call := range map[string]struct {
		who string
		ask ask
	}{
		"shared":           {"alice", ask{method: wire.GetTask, task: "t"}},
		"shared, message":  {"alice", ask{method: wire.SendMessage, task: "t"}},
		"shared, stream":   {"alice", ask{method: wire.SendStreamingMessage, task: "t"}},
		"shared, listener": {"alice", ask{method: wire.SubscribeToTask, task: "t"}},
		"reader":           {"reader", ask{method: wire.GetTask, task: "r"}},
		"cancel":           {"tied", ask{method: wire.CancelTask, task: "t"}},
	} {
		got := w.speak(call.who, w.base, rpc10, call.ask).ok(t, what)
		if seen := w.agent.take(); len(seen) != 1 || !got.asksStill() {
			t.Errorf("%s: the agent heard %d calls, the caller %s", what, len(seen), got.docs)
		}
	}
	if asked := e.take(); len(asked) != 0 {
		t.Errorf("tokens were asked for: %v", asked)
	}
	if got := w.speak("tied", w.base, rpc10, ask{method: wire.GetTask, task: "t"}).ok(t, "owner"); got.asksStill() {
		t.Errorf("the owner: %s", got.docs)
	}
}
