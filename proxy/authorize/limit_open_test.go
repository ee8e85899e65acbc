package authorize_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const oneOpen = `each: [{name: open, openTasks: 1}]`

// desk is an agent whose tasks work until they are cancelled or are told to end.
type desk struct {
	mu     sync.Mutex
	states map[string]string
}

func newDesk() *desk { return &desk{states: map[string]string{}} }

// end has a task be in a state from now on.
func (d *desk) end(task, state string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.states[task] = state
}

// answer is for recorder.answers. A stream ends after its first event, as one of an agent
// that goes on in the background.
func (d *desk) answer(w http.ResponseWriter, r *proxytest.Request) {
	s, c := r.Side(), r.Call()
	id := cmp.Or(c.TaskID, "task-"+r.Header.Get("X-Request-Id"))
	d.mu.Lock()
	if c.Method.Name == wire.CancelTask {
		d.states[id] = "canceled"
	}
	state := cmp.Or(d.states[id], "working")
	d.mu.Unlock()
	context := cmp.Or(c.ContextID, "context-"+id)
	task := proxytest.TaskIn(s, id, context, state, "")
	switch {
	case c.Method.Streams && s == proxytest.RPC01:
		r.Say(w, proxytest.StatusIn(s, id, context, state, ""))
	case c.Method.Subject == wire.OfTask && !c.Method.Streams, s.Binding == wire.JSONRPC && s.Version != wire.V10:
		r.Say(w, task)
	default:
		r.Say(w, `{"task":`+task+`}`)
	}
}

// made is the id of the task that a call made.
func made(w *proxytest.Gateway) string {
	w.Helper()
	seen := w.Agent.Take()
	if len(seen) == 0 {
		w.Fatal("the agent saw nothing")
	}
	r := seen[len(seen)-1]
	return cmp.Or(r.Call().TaskID, "task-"+r.Header.Get("X-Request-Id"))
}

// TestOpenTasks: a task counts from the answer that shows it until one that shows its end,
// whatever side it is made, looked at, cancelled or gone on with, and whatever side the
// agent has.
func TestOpenTasks(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewLimitedGateway(t, oneOpen)
			w.BecomeCard(proxytest.CardFor(agent))
			d := newDesk()
			w.Agent.Answers(d.answer)
			for i, s := range proxytest.Sides {
				for j, make := range []string{wire.SendMessage, wire.SendStreamingMessage} {
					opens(w, t, d, s, proxytest.Sides[(i+j+1)%len(proxytest.Sides)], make)
				}
			}
		})
	}
}

// opens makes a task on one side, and ends it in each way on another.
func opens(w *proxytest.Gateway, t *testing.T, d *desk, s, other wire.Side, method string) {
	t.Helper()
	for _, end := range []string{wire.GetTask, wire.CancelTask, wire.SendMessage} {
		if other == proxytest.RPC01 && end == wire.SendMessage {
			continue // 0.1's callers go on with tasks that they have named
		}
		what := fmt.Sprintf("%s over %s, %s over %s", method, s, end, other)
		w.Agent.Take()
		named := proxytest.NewTaskID(s)
		got := w.Speak("carol", w.Base, s, proxytest.Ask{Method: method, Task: named, More: soon(s)}).OK(t, what)
		proxytest.WantHeader(t, what, got, "RateLimit", `^"open";r=0$`)
		task := made(w)
		again := proxytest.Ask{Method: wire.SendMessage, Task: cmp.Or(named, task), More: soon(s)}
		more := proxytest.Ask{Method: method, Task: proxytest.NewTaskID(other)}
		w.Speak("carol", w.Base, other, more).Refused(t, what, wire.RateLimited)
		w.Speak("carol", w.Base, s, again).OK(t, what+": going on")
		w.Speak("carol", w.Base, other, more).Refused(t, what, wire.RateLimited)
		if end != wire.CancelTask {
			d.end(task, "completed")
		}
		w.Speak("carol", w.Base, other, proxytest.Ask{Method: end, Task: task}).OK(t, what)
	}
}

// soon asks for an answer before the task is over.
func soon(s wire.Side) string {
	switch {
	case s == proxytest.RPC01:
		return ""
	case s == proxytest.RPC03:
		return `,"configuration":{"blocking":false}`
	case s.Version == wire.V03:
		return `,"configuration":{"blocking":false}`
	}
	return `,"configuration":{"returnImmediately":true}`
}

// TestOpenTasksOfOthers: somebody else's look at a task that is shared tells of its end
// too, and what others make does not count for its owner.
func TestOpenTasksOfOthers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, oneOpen, func(s *proxytest.Setup) { s.Policy.Tasks.Scope = "agent" })
	d := newDesk()
	w.Agent.Answers(d.answer)
	w.Call("alice", "SendMessage", proxytest.Message(""))
	task := made(w)
	proxytest.WantStatus(t, "a second", w.Call("alice", "SendMessage", proxytest.Message("")), 429)
	proxytest.WantStatus(t, "somebody else's first", w.Call("bob", "SendMessage", proxytest.Message("")), 200)
	d.end(task, "completed")
	got := w.Call("mallory", "GetTask", fmt.Sprintf(`{"id":%q}`, task))
	if !strings.Contains(got.Body, "COMPLETED") {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	proxytest.WantStatus(t, "after somebody's look", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
	proxytest.WantStatus(t, "bob's is still open", w.Call("bob", "SendMessage", proxytest.Message("")), 429)
}

// TestOpenTasksOfNothing: what makes no open task leaves no trace: messages, tasks that
// are over at once, errors, broken answers.
func TestOpenTasksOfNothing(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, oneOpen)
	for name, answer := range map[string]func(http.ResponseWriter, *proxytest.Request){
		"a message": func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, `{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`)
		},
		"a finished task": proxytest.Fluent,
		"an error":        func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Internal, "no") },
		"a dead agent":    func(http.ResponseWriter, *proxytest.Request) { panic(http.ErrAbortHandler) },
	} {
		for range 3 {
			w.Agent.Answers(answer)
			if got := w.Call("alice", "SendMessage", proxytest.Message("")); got.Status == 429 {
				t.Errorf("%s: %s", name, got.Body)
			}
		}
		free(w, "alice", name)
	}
}

// TestA26_TasksWithoutEnd: a caller who opens tasks and never ends them is stopped at the
// limit, whatever binding the flood comes over; everybody else works on, and the flood
// takes nothing of the agent.
func TestA26_TasksWithoutEnd(t *testing.T) {
	t.Parallel()
	const most = 20
	w := proxytest.NewLimitedGateway(t, fmt.Sprintf("each: [{name: open, openTasks: %d}]", most))
	w.Agent.Answers(newDesk().answer)
	var flood sync.WaitGroup
	var mu sync.Mutex
	answers := map[bool]int{}
	for n := range 8 {
		flood.Go(func() {
			for i := range 125 {
				s := []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03}[(n+i)%3]
				got := w.Speak("dave", w.Base, s, proxytest.Ask{Method: wire.SendMessage, More: soon(s)})
				mu.Lock()
				answers[got.Status == http.StatusOK]++
				mu.Unlock()
				if got.Status != http.StatusOK {
					got.Refused(t, s.String(), wire.RateLimited)
				}
			}
		})
	}
	for range most {
		w.Speak("carol", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, "somebody else")
	}
	flood.Wait()
	if answers[true] != most || answers[false] != 1000-most {
		t.Errorf("%d tasks were opened, %d refused", answers[true], answers[false])
	}
	if seen := len(w.Agent.Take()); seen != 2*most {
		t.Errorf("the agent saw %d calls, want %d of each", seen, most)
	}
	w.Speak("erin", w.Base, proxytest.GRPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, "another, over gRPC")
}
