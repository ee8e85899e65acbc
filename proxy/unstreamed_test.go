package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// unstreamedIn are the ways in which agents before 1.0 say that they have no stream of a task.
var unstreamedIn = map[string]func(http.ResponseWriter, *record){
	"nothing": func(rw http.ResponseWriter, r *record) { r.say(rw) },
	"a broken connection": func(rw http.ResponseWriter, r *record) {
		if r.side().Binding == wire.GRPC {
			r.say(rw)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler) // it cuts the answer off
	},
	"no answer yet": func(_ http.ResponseWriter, r *record) { <-r.Context().Done() },
	"an answer":     func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.TaskNotFound, "Task not found") },
	"an event": func(rw http.ResponseWriter, r *record) {
		if r.side().Binding != wire.JSONRPC {
			r.say(rw)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32001,\"message\":\"Task not found\"}}\n\n", r.rpc().ID)
	},
}

// TestSubscribeUnstreamed: a client of 1.0 that subscribes to a task which waits for its user
// hears what the next message makes of it, also where the agent has no stream of such tasks.
func TestSubscribeUnstreamed(t *testing.T) {
	t.Parallel()
	for how, answer := range unstreamedIn {
		for _, agent := range older {
			for _, caller := range listers {
				t.Run(fmt.Sprintf("%s from %s for %s", how, agent, caller), func(t *testing.T) {
					t.Parallel()
					unstreams(t, agent, caller, answer)
				})
			}
		}
	}
}

func unstreams(t *testing.T, agent, caller wire.Side, answer func(http.ResponseWriter, *record)) {
	t.Helper()
	w := in(t, speaks(agent), tied, streaming(func(c *stream.Config) { c.Poll = secret.Duration(100 * time.Millisecond) }))
	w.given("tied", w.base, w.agent, "t", "c", "")
	var looks atomic.Int32
	states := []string{"input-required", "input-required", "input-required", "working", "working", "input-required", "completed"}
	w.agent.answers(watched(func(s wire.Side) string {
		i := min(int(looks.Add(1))-1, len(states)-1)
		return taskAt(s, "t", "c", states[i], slices.Index(states, states[i])+10*(i/5))
	}, answer))
	got := w.speak("tied", w.base, caller, ask{method: wire.SubscribeToTask, task: "t"}).ok(t, "subscription")
	const want = "task INPUT_REQUIRED, status WORKING, status INPUT_REQUIRED, status COMPLETED"
	if got.outline() != want {
		t.Errorf("%s\n%s", got.outline(), got.docs)
	}
	subscribed := 0
	for _, r := range w.agent.take() {
		if r.method().Name == wire.SubscribeToTask {
			subscribed++
		}
	}
	if subscribed != 1 && agent != rest03 { // whose other form is tried as well
		t.Errorf("the agent was subscribed to %d times", subscribed)
	}
	if r := w.found("events"); r["end"] != "agent finished" || r["reason"] != nil {
		t.Errorf("recorded %v", r)
	}
}

// TestSubscribeUnstreamedAlike: a client of the agent's own version is told what the agent says.
func TestSubscribeUnstreamedAlike(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc03), tied, streaming())
	w.given("tied", w.base, w.agent, "t", "c", "")
	for how, answer := range unstreamedIn {
		if how == "no answer yet" {
			continue
		}
		w.agent.answers(answer)
		got := w.speak("tied", w.base, rpc03, ask{method: wire.SubscribeToTask, task: "t"})
		want := map[string]string{"nothing": "", "a broken connection": "broke off"}
		text, ok := want[how]
		if !ok {
			text = "Task not found"
		}
		if calls := len(w.agent.take()); calls != 1 || (got.err != nil) != (text != "") || !strings.Contains(got.body, text) {
			t.Errorf("%s: %d calls, %d %s", how, calls, got.status, got.body)
		}
	}
}

// TestSubscribeLarge: also of a subscription that would be watched instead, an event that is
// too large ends the stream, and what is dropped with it is counted.
func TestSubscribeLarge(t *testing.T) {
	t.Parallel()
	for _, agent := range older {
		for _, caller := range listers {
			t.Run(fmt.Sprintf("%s for %s", agent, caller), func(t *testing.T) {
				t.Parallel()
				w := in(t, speaks(agent), tied, streaming(), func(s *setup) { s.server.Limits.Event = 2000 })
				w.given("tied", w.base, w.agent, "t", "c", "")
				w.agent.answers(watched(func(s wire.Side) string { return taskIn(s, "t", "c", "working", "") }, tell(func(s wire.Side) []string {
					large := strings.Replace(statusIn(s, "t", "c", "working", ""), `"t"`, `"`+strings.Repeat("t", 4000)+`"`, 1)
					return []string{statusIn(s, "t", "c", "working", ""), large, statusIn(s, "t", "c", "completed", "")}
				})))
				got := w.speak("tied", w.base, caller, ask{method: wire.SubscribeToTask, task: "t"})
				if got.err == nil {
					t.Fatalf("no error: %s", got.body)
				}
				r := w.found("end")
				if r["end"] != "event too large" || r["dropped_events"] != 2.0 || r["dropped_more"] != nil {
					t.Errorf("%v, %s, recorded %v", got.err, got.body, r)
				}
			})
		}
	}
}
