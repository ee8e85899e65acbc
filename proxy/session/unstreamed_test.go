package session_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// unstreamedIn are the ways in which agents before 1.0 say that they have no stream of a task.
var unstreamedIn = map[string]func(http.ResponseWriter, *proxytest.Request){
	"nothing": func(rw http.ResponseWriter, r *proxytest.Request) { r.Say(rw) },
	"a broken connection": func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.Side().Binding == wire.GRPC {
			r.Say(rw)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler) // it cuts the answer off
	},
	"no answer yet": func(_ http.ResponseWriter, r *proxytest.Request) { <-r.Context().Done() },
	"an answer":     func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.TaskNotFound, "Task not found") },
	"an event": func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.Side().Binding != wire.JSONRPC {
			r.Say(rw)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32001,\"message\":\"Task not found\"}}\n\n", r.RPC().ID)
	},
}

// TestSubscribeUnstreamed: a client of 1.0 that subscribes to a task which waits for its user
// hears what the next message makes of it, also where the agent has no stream of such tasks.
func TestSubscribeUnstreamed(t *testing.T) {
	t.Parallel()
	for how, answer := range unstreamedIn {
		for _, agent := range older {
			for _, caller := range proxytest.ListSides {
				t.Run(fmt.Sprintf("%s from %s for %s", how, agent, caller), func(t *testing.T) {
					if how == "no answer yet" {
						testenv.Long(t, "agents of every side are waited for")
					}
					t.Parallel()
					unstreams(t, agent, caller, answer)
				})
			}
		}
	}
}

func unstreams(t *testing.T, agent, caller wire.Side, answer func(http.ResponseWriter, *proxytest.Request)) {
	t.Helper()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied, proxytest.WithStreams(func(c *stream.Config) { c.Poll = quantity.Duration(100 * time.Millisecond) }))
	w.Given("tied", w.Base, w.Agent, "t", "c", "")
	var looks atomic.Int32
	states := []string{"input-required", "input-required", "input-required", "working", "working", "input-required", "completed"}
	w.Agent.Answers(watched(func(s wire.Side) string {
		i := min(int(looks.Add(1))-1, len(states)-1)
		return taskAt(s, "t", "c", states[i], slices.Index(states, states[i])+10*(i/5))
	}, answer))
	got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"}).OK(t, "subscription")
	const want = "task INPUT_REQUIRED, status WORKING, status INPUT_REQUIRED, status COMPLETED"
	if outline(got) != want {
		t.Errorf("%s\n%s", outline(got), got.Docs)
	}
	subscribed := 0
	for _, r := range w.Agent.Take() {
		if r.Called().Name == wire.SubscribeToTask {
			subscribed++
		}
	}
	if subscribed != 1 && agent != proxytest.REST03 { // whose other form is tried as well
		t.Errorf("the agent was subscribed to %d times", subscribed)
	}
	if r := w.RecordWith("events"); r["end"] != "agent finished" || r["reason"] != nil {
		t.Errorf("recorded %v", r)
	}
}

// TestSubscribeUnstreamedAlike: a client of the agent's own version is told what the agent says.
func TestSubscribeUnstreamedAlike(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithTied, proxytest.WithStreams())
	w.Given("tied", w.Base, w.Agent, "t", "c", "")
	for how, answer := range unstreamedIn {
		if how == "no answer yet" {
			continue
		}
		w.Agent.Answers(answer)
		got := w.Speak("tied", w.Base, proxytest.RPC03, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"})
		want := map[string]string{"nothing": "", "a broken connection": "broke off"}
		text, ok := want[how]
		if !ok {
			text = "Task not found"
		}
		if calls := len(w.Agent.Take()); calls != 1 || (got.Err != nil) != (text != "") || !strings.Contains(got.Body, text) {
			t.Errorf("%s: %d calls, %d %s", how, calls, got.Status, got.Body)
		}
	}
}

// TestSubscribeLarge: also of a subscription that would be watched instead, an event that is
// too large ends the stream, and what is dropped with it is counted.
func TestSubscribeLarge(t *testing.T) {
	t.Parallel()
	for _, agent := range older {
		for _, caller := range proxytest.ListSides {
			t.Run(fmt.Sprintf("%s for %s", agent, caller), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied, proxytest.WithStreams(), func(s *proxytest.Setup) { s.Server.Limits.Event = 2000 })
				w.Given("tied", w.Base, w.Agent, "t", "c", "")
				w.Agent.Answers(watched(func(s wire.Side) string { return proxytest.TaskIn(s, "t", "c", "working", "") }, tell(func(s wire.Side) []string {
					large := strings.Replace(proxytest.StatusIn(s, "t", "c", "working", ""), `"t"`, `"`+strings.Repeat("t", 4000)+`"`, 1)
					return []string{proxytest.StatusIn(s, "t", "c", "working", ""), large, proxytest.StatusIn(s, "t", "c", "completed", "")}
				})))
				got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SubscribeToTask, Task: "t"})
				if got.Err == nil {
					t.Fatalf("no error: %s", got.Body)
				}
				r := w.RecordWith("end")
				if r["end"] != "event too large" || r["dropped_events"] != 2.0 || r["dropped_more"] != nil {
					t.Errorf("%v, %s, recorded %v", got.Err, got.Body, r)
				}
			})
		}
	}
}
