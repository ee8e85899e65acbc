package ownership_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// moving is an agent that shows its task in another context than at first, as those on the
// Python SDK do once a message has named the task alone.
func moving(agent wire.Side, first, then string) func(http.ResponseWriter, *proxytest.Request) {
	return func(rw http.ResponseWriter, r *proxytest.Request) {
		if agent.Binding == wire.GRPC {
			rw.Header().Set("Content-Type", "application/grpc")
			defer rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		} else {
			rw.Header().Set("Content-Type", "text/event-stream")
		}
		task := proxytest.TaskIn(agent, "t", first, "input-required", "")
		if agent != proxytest.RPC03 {
			task = `{"task":` + task + `}`
		}
		r.Event(rw, task)
		r.Event(rw, proxytest.StatusIn(agent, "t", then, "working", ""))
		r.Event(rw, proxytest.StatusIn(agent, "t", then, "completed", ""))
	}
}

// TestContextMoves: a task goes on in another context than it was first shown in, in every
// version and binding, and that context is the caller's from then on.
func TestContextMoves(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03} {
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03} {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithStreams(), func(s *proxytest.Setup) {
				s.Bound = map[string]string{"tied": "rec", "moored": "rec"}
				s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "moored")
			})
			w.Agent.Answers(moving(agent, "c", "made-up"))
			got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage})
			last := got.Docs[len(got.Docs)-1]
			if got.Err != nil || !strings.Contains(last, "made-up") || !strings.Contains(strings.ToLower(last), "completed") {
				t.Errorf("%s to %s: %v %s", caller, agent, got.Err, got.Docs)
			}
			w.Agent.Take()
			w.Agent.Answers(proxytest.Fluent)
			w.Speak("moored", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Context: "made-up"}).OK(t, caller.String())
			if seen := w.Agent.One(t); strings.Contains(string(seen.Content), "made-up") {
				t.Errorf("%s to %s: somebody else got into the context: %s", caller, agent, seen.Content)
			}
			w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Context: "made-up"}).OK(t, caller.String())
			if seen := w.Agent.One(t); !strings.Contains(seen.Call().ContextID, "made-up") {
				t.Errorf("%s to %s: the caller is in %q", caller, agent, seen.Call().ContextID)
			}
		}
	}
}

// TestA03_ContextMovesToForeign: a task that goes on in a context of somebody else's does not
// go on for its caller, who never hears of that context.
func TestA03_ContextMovesToForeign(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03} {
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03} {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied, proxytest.WithStreams())
			w.Given("alice", w.Base, w.Agent, "a", "of-alice", "")
			w.Agent.Answers(moving(agent, "c", "of-alice"))
			got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage})
			if got.Err == nil || strings.Contains(got.Body, "of-alice") || strings.Contains(strings.ToLower(fmt.Sprint(got.Docs)), "completed") {
				t.Errorf("%s to %s: %v %s", caller, agent, got.Err, got.Docs)
			}
			if r := w.RecordWith("cause"); !strings.Contains(fmt.Sprint(r["cause"]), "no such task") && !strings.Contains(fmt.Sprint(r["cause"]), "somebody else") {
				t.Errorf("recorded %v", r)
			}
		}
	}
}

// TestContextMovesWhileShared: everybody on the stream of a task follows it into another
// context, who joins then and who comes back as well, and who watches it with polls.
func TestContextMovesWhileShared(t *testing.T) {
	t.Parallel()
	w, next := proxytest.Bystanders(t, proxytest.RPC10, []byte(`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`))
	first := w.Listen("tied", "SendStreamingMessage", proxytest.Message(""))
	first.Hears("task working ")
	second := w.Listen("tied", "SubscribeToTask", `{"id":"t"}`)
	second.Hears("task working ")
	update := `{"statusUpdate":{"taskId":"t","contextId":"d","status":{"state":"TASK_STATE_%s"}}}`
	next <- fmt.Appendf(nil, update, "INPUT_REQUIRED")
	for _, l := range []*proxytest.Listener{first, second} {
		l.Hears("input_required")
	}
	third := w.Listen("tied", "SubscribeToTask", `{"id":"t"}`)
	third.Hears("task input_required ")
	first.Leave()
	next <- fmt.Appendf(nil, update, "COMPLETED")
	back := w.Listen("tied", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first.Last)
	for _, l := range []*proxytest.Listener{second, third, back} {
		l.Hears("completed", "")
	}
	close(next)
}

// TestContextMovesInAnswers: what is not a stream says so too.
func TestContextMovesInAnswers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	w.SpeakTask("tied", "t", "c")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/json")
		task := `{"id":"t","contextId":"d","status":{"state":"TASK_STATE_COMPLETED"}}`
		if strings.Contains(string(r.Content), "SendMessage") {
			task = `{"task":` + task + `}`
		}
		_, _ = io.WriteString(rw, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":%s}`, task))
	})
	for method, params := range map[string]string{"SendMessage": proxytest.Message(`,"taskId":"t"`), "GetTask": `{"id":"t"}`} {
		if got := w.Call("tied", method, params); got.Status != 200 || !strings.Contains(got.Body, `"contextId":"d"`) {
			t.Errorf("%s: %d %s", method, got.Status, got.Body)
		}
	}
}
