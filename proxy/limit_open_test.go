package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
func (d *desk) answer(w http.ResponseWriter, r *record) {
	s, c := r.side(), r.call()
	id := cmp.Or(c.TaskID, "task-"+r.Header.Get("X-Request-Id"))
	d.mu.Lock()
	if c.Method.Name == wire.CancelTask {
		d.states[id] = "canceled"
	}
	state := cmp.Or(d.states[id], "working")
	d.mu.Unlock()
	context := cmp.Or(c.ContextID, "context-"+id)
	task := taskIn(s, id, context, state, "")
	switch {
	case c.Method.Streams && s == rpc01:
		r.say(w, statusIn(s, id, context, state, ""))
	case c.Method.Subject == wire.OfTask && !c.Method.Streams, s.Binding == wire.JSONRPC && s.Version != wire.V10:
		r.say(w, task)
	default:
		r.say(w, `{"task":`+task+`}`)
	}
}

// made is the id of the task that a call made.
func (w *world) made() string {
	w.Helper()
	seen := w.agent.take()
	if len(seen) == 0 {
		w.Fatal("the agent saw nothing")
	}
	r := seen[len(seen)-1]
	return cmp.Or(r.call().TaskID, "task-"+r.Header.Get("X-Request-Id"))
}

// TestOpenTasks: a task counts from the answer that shows it until one that shows its end,
// whatever side it is made, looked at, cancelled or gone on with, and whatever side the
// agent has.
func TestOpenTasks(t *testing.T) {
	t.Parallel()
	for _, agent := range sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := limited(t, oneOpen)
			w.becomes(speaks(agent))
			d := newDesk()
			w.agent.answers(d.answer)
			for i, s := range sides {
				for j, make := range []string{wire.SendMessage, wire.SendStreamingMessage} {
					w.opens(t, d, s, sides[(i+j+1)%len(sides)], make)
				}
			}
		})
	}
}

// opens makes a task on one side, and ends it in each way on another.
func (w *world) opens(t *testing.T, d *desk, s, other wire.Side, method string) {
	t.Helper()
	for _, end := range []string{wire.GetTask, wire.CancelTask, wire.SendMessage} {
		if other == rpc01 && end == wire.SendMessage {
			continue // 0.1's callers go on with tasks that they have named
		}
		what := fmt.Sprintf("%s over %s, %s over %s", method, s, end, other)
		w.agent.take()
		named := taskFor(s)
		got := w.speak("carol", w.base, s, ask{method: method, task: named, more: soon(s)}).ok(t, what)
		headed(t, what, got, "RateLimit", `^"open";r=0$`)
		task := w.made()
		again := ask{method: wire.SendMessage, task: cmp.Or(named, task), more: soon(s)}
		more := ask{method: method, task: taskFor(other)}
		w.speak("carol", w.base, other, more).refused(t, what, wire.RateLimited)
		w.speak("carol", w.base, s, again).ok(t, what+": going on")
		w.speak("carol", w.base, other, more).refused(t, what, wire.RateLimited)
		if end != wire.CancelTask {
			d.end(task, "completed")
		}
		w.speak("carol", w.base, other, ask{method: end, task: task}).ok(t, what)
	}
}

// soon asks for an answer before the task is over.
func soon(s wire.Side) string {
	switch {
	case s == rpc01:
		return ""
	case s == rpc03:
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
	w := limited(t, oneOpen, func(s *setup) { s.policy.Tasks.Scope = "agent" })
	d := newDesk()
	w.agent.answers(d.answer)
	w.call("alice", "SendMessage", message(""))
	task := w.made()
	wantStatus(t, "a second", w.call("alice", "SendMessage", message("")), 429)
	wantStatus(t, "somebody else's first", w.call("bob", "SendMessage", message("")), 200)
	d.end(task, "completed")
	got := w.call("mallory", "GetTask", fmt.Sprintf(`{"id":%q}`, task))
	if !strings.Contains(got.body, "COMPLETED") {
		t.Fatalf("%d %s", got.status, got.body)
	}
	wantStatus(t, "after somebody's look", w.call("alice", "SendMessage", message("")), 200)
	wantStatus(t, "bob's is still open", w.call("bob", "SendMessage", message("")), 429)
}

// TestOpenTasksOfNothing: what makes no open task leaves no trace: messages, tasks that
// are over at once, errors, broken answers.
func TestOpenTasksOfNothing(t *testing.T) {
	t.Parallel()
	w := limited(t, oneOpen)
	for name, answer := range map[string]func(http.ResponseWriter, *record){
		"a message": func(rw http.ResponseWriter, r *record) {
			r.say(rw, `{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`)
		},
		"a finished task": fluent,
		"an error":        func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.Internal, "no") },
		"a dead agent":    func(http.ResponseWriter, *record) { panic(http.ErrAbortHandler) },
	} {
		for range 3 {
			w.agent.answers(answer)
			if got := w.call("alice", "SendMessage", message("")); got.status == 429 {
				t.Errorf("%s: %s", name, got.body)
			}
		}
		w.free("alice", name)
	}
}

// TestA26_TasksWithoutEnd: a caller who opens tasks and never ends them is stopped at the
// limit, whatever binding the flood comes over; everybody else works on, and the flood
// takes nothing of the agent.
func TestA26_TasksWithoutEnd(t *testing.T) {
	t.Parallel()
	const most = 20
	w := limited(t, fmt.Sprintf("each: [{name: open, openTasks: %d}]", most))
	w.agent.answers(newDesk().answer)
	var flood sync.WaitGroup
	var mu sync.Mutex
	answers := map[bool]int{}
	for n := range 8 {
		flood.Go(func() {
			for i := range 125 {
				s := []wire.Side{rpc10, rest10, rpc03}[(n+i)%3]
				got := w.speak("dave", w.base, s, ask{method: wire.SendMessage, more: soon(s)})
				mu.Lock()
				answers[got.status == http.StatusOK]++
				mu.Unlock()
				if got.status != http.StatusOK {
					got.refused(t, s.String(), wire.RateLimited)
				}
			}
		})
	}
	for range most {
		w.speak("carol", w.base, rpc10, ask{method: wire.SendMessage}).ok(t, "somebody else")
	}
	flood.Wait()
	if answers[true] != most || answers[false] != 1000-most {
		t.Errorf("%d tasks were opened, %d refused", answers[true], answers[false])
	}
	if seen := len(w.agent.take()); seen != 2*most {
		t.Errorf("the agent saw %d calls, want %d of each", seen, most)
	}
	w.speak("erin", w.base, grpc10, ask{method: wire.SendMessage}).ok(t, "another, over gRPC")
}
