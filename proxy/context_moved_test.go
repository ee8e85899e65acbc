package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// moving is an agent that shows its task in another context than at first, as those on the
// Python SDK do once a message has named the task alone.
func moving(agent wire.Side, first, then string) func(http.ResponseWriter, *record) {
	return func(rw http.ResponseWriter, r *record) {
		if agent.Binding == wire.GRPC {
			rw.Header().Set("Content-Type", "application/grpc")
			defer rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		} else {
			rw.Header().Set("Content-Type", "text/event-stream")
		}
		task := taskIn(agent, "t", first, "input-required", "")
		if agent != rpc03 {
			task = `{"task":` + task + `}`
		}
		r.event(rw, task)
		r.event(rw, statusIn(agent, "t", then, "working", ""))
		r.event(rw, statusIn(agent, "t", then, "completed", ""))
	}
}

// TestContextMoves: a task goes on in another context than it was first shown in, in every
// version and binding, and that context is the caller's from then on.
func TestContextMoves(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, grpc10, rpc03, rest03} {
		for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03, rest03} {
			w := in(t, speaks(agent), streaming(), func(s *setup) {
				s.bound = map[string]string{"tied": "rec", "moored": "rec"}
				s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "moored")
			})
			w.agent.answers(moving(agent, "c", "made-up"))
			got := w.speak("tied", w.base, caller, ask{method: wire.SendStreamingMessage})
			last := got.docs[len(got.docs)-1]
			if got.err != nil || !strings.Contains(last, "made-up") || !strings.Contains(strings.ToLower(last), "completed") {
				t.Errorf("%s to %s: %v %s", caller, agent, got.err, got.docs)
			}
			w.agent.take()
			w.agent.answers(fluent)
			w.speak("moored", w.base, caller, ask{method: wire.SendMessage, context: "made-up"}).ok(t, caller.String())
			if seen := w.agent.one(t); strings.Contains(string(seen.body), "made-up") {
				t.Errorf("%s to %s: somebody else got into the context: %s", caller, agent, seen.body)
			}
			w.speak("tied", w.base, caller, ask{method: wire.SendMessage, context: "made-up"}).ok(t, caller.String())
			if seen := w.agent.one(t); !strings.Contains(seen.call().ContextID, "made-up") {
				t.Errorf("%s to %s: the caller is in %q", caller, agent, seen.call().ContextID)
			}
		}
	}
}

// TestA03_ContextMovesToForeign: a task that goes on in a context of somebody else's does not
// go on for its caller, who never hears of that context.
func TestA03_ContextMovesToForeign(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, grpc10, rpc03} {
		for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03} {
			w := in(t, speaks(agent), tied, streaming())
			w.given("alice", w.base, w.agent, "a", "of-alice", "")
			w.agent.answers(moving(agent, "c", "of-alice"))
			got := w.speak("tied", w.base, caller, ask{method: wire.SendStreamingMessage})
			if got.err == nil || strings.Contains(got.body, "of-alice") || strings.Contains(strings.ToLower(fmt.Sprint(got.docs)), "completed") {
				t.Errorf("%s to %s: %v %s", caller, agent, got.err, got.docs)
			}
			if r := w.found("cause"); !strings.Contains(fmt.Sprint(r["cause"]), "no such task") && !strings.Contains(fmt.Sprint(r["cause"]), "somebody else") {
				t.Errorf("recorded %v", r)
			}
		}
	}
}

// TestContextMovesWhileShared: everybody on the stream of a task follows it into another
// context, who joins then and who comes back as well, and who watches it with polls.
func TestContextMovesWhileShared(t *testing.T) {
	t.Parallel()
	w, next := bystanders(t, rpc10, []byte(`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`))
	first := w.listen("tied", "SendStreamingMessage", message(""))
	first.hears("task working ")
	second := w.listen("tied", "SubscribeToTask", `{"id":"t"}`)
	second.hears("task working ")
	update := `{"statusUpdate":{"taskId":"t","contextId":"d","status":{"state":"TASK_STATE_%s"}}}`
	next <- fmt.Appendf(nil, update, "INPUT_REQUIRED")
	for _, l := range []*listener{first, second} {
		l.hears("input_required")
	}
	third := w.listen("tied", "SubscribeToTask", `{"id":"t"}`)
	third.hears("task input_required ")
	first.leave()
	next <- fmt.Appendf(nil, update, "COMPLETED")
	back := w.listen("tied", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first.last)
	for _, l := range []*listener{second, third, back} {
		l.hears("completed", "")
	}
	close(next)
}

// TestContextMovesInAnswers: what is not a stream says so too.
func TestContextMovesInAnswers(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied)
	w.speakTask("tied", "t", "c")
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "application/json")
		task := `{"id":"t","contextId":"d","status":{"state":"TASK_STATE_COMPLETED"}}`
		if strings.Contains(string(r.body), "SendMessage") {
			task = `{"task":` + task + `}`
		}
		_, _ = io.WriteString(rw, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":%s}`, task))
	})
	for method, params := range map[string]string{"SendMessage": message(`,"taskId":"t"`), "GetTask": `{"id":"t"}`} {
		if got := w.call("tied", method, params); got.status != 200 || !strings.Contains(got.body, `"contextId":"d"`) {
			t.Errorf("%s: %d %s", method, got.status, got.body)
		}
	}
}
