package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// newer are the agents that choose the ids of their tasks themselves.
var newer = []wire.Side{rpc03, rest03, grpc03, rpc10, rest10, grpc10}

// chooser is an agent that gives each task without an id one of its own, and each
// context.
type chooser struct {
	mu    sync.Mutex
	made  int
	where map[string]string // context of each task
	gate  chan struct{}     // sends wait for it, if there is one
}

func (a *chooser) answer(w http.ResponseWriter, r *record) {
	s, c := r.side(), r.call()
	id, context := c.TaskID, c.ContextID
	a.mu.Lock()
	if id == "" {
		a.made++
		id = fmt.Sprintf("agents-task-%d", a.made)
	}
	if a.where == nil {
		a.where = map[string]string{}
	}
	context = cmp.Or(context, a.where[id], strings.Replace(id, "task", "context", 1))
	a.where[id] = context
	gate := a.gate
	a.mu.Unlock()
	if gate != nil {
		<-gate
	}
	message := fmt.Sprintf(`,"message":{"messageId":"x","role":"ROLE_AGENT","taskId":%q,"contextId":%q,"parts":[{"text":"about mine"}]}`, id, context)
	if s == rpc03 {
		message = fmt.Sprintf(`,"message":{"kind":"message","messageId":"x","role":"agent","taskId":%q,"contextId":%q,"parts":[{"kind":"text","text":"about mine"}]}`, id, context)
	}
	task := strings.Replace(taskIn(s, id, context, "working", ""), `"}}`, `"`+message+`}}`, 1)
	if s != rpc03 && (c.Method.Subject == wire.OfMessage || c.Method.Streams) {
		task = `{"task":` + task + `}`
	}
	switch {
	case c.Method.Streams:
		r.say(w, task, artifactIn(s, id, context), statusIn(s, id, context, "completed", message))
	default:
		r.say(w, task)
	}
}

// old makes a call of 0.1 without a version header, as its clients do.
func (w *world) old(who, method, params string) answer {
	w.Helper()
	return w.do(who, "POST", "", rpcBody(method, params))
}

func oldSend(id, session string) string {
	if session != "" {
		session = fmt.Sprintf(`,"sessionId":%q`, session)
	}
	return fmt.Sprintf(`{"id":%q%s,"message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`, id, session)
}

// TestOldCallers: the ids that a client of 0.1 chose are its own in every answer
// and event, and none of the agent's business.
func TestOldCallers(t *testing.T) {
	t.Parallel()
	for _, agent := range newer {
		w := in(t, speaks(agent))
		w.agent.answers(new(chooser).answer)
		calls := []struct {
			method, params string
			name           string // 1.0
			task           string // that the agent is told
			events         int
		}{
			{"tasks/send", oldSend("mine", "session"), wire.SendMessage, "", 0},
			{"tasks/send", oldSend("mine", "session"), wire.SendMessage, "agents-task-1", 0},
			{"tasks/send", oldSend("mine", ""), wire.SendMessage, "agents-task-1", 0},
			{"tasks/get", `{"id":"mine"}`, wire.GetTask, "agents-task-1", 0},
			{"tasks/cancel", `{"id":"mine"}`, wire.CancelTask, "agents-task-1", 0},
			{"tasks/resubscribe", `{"id":"mine"}`, wire.SubscribeToTask, "agents-task-1", 3},
			{"tasks/resubscribe", `{"id":"mine","historyLength":1}`, wire.SubscribeToTask, "agents-task-1", 3},
			{"tasks/sendSubscribe", oldSend("mine", "session"), wire.SendStreamingMessage, "agents-task-1", 3},
			{"tasks/sendSubscribe", oldSend("second", "session"), wire.SendStreamingMessage, "", 3},
			{"tasks/get", `{"id":"second"}`, wire.GetTask, "agents-task-2", 0},
		}
		for _, c := range calls {
			what := fmt.Sprintf("%s in front of %s", c.method, agent)
			got := w.old("alice", c.method, c.params)
			seen := w.agent.one(t)
			if said := seen.call(); said.TaskID != c.task || seen.method().Name != c.name {
				t.Errorf("%s: the agent got %s %q: %s %s", what, seen.method().Name, said.TaskID, seen.URL, seen.body)
			}
			if all := fmt.Sprint(seen.URL, string(seen.body)); strings.Contains(all, "mine") || strings.Contains(all, "session") {
				t.Errorf("%s: the agent got %s", what, all)
			}
			id := "mine"
			if strings.Contains(c.params, "second") {
				id = "second"
			}
			if got.status != 200 || strings.Contains(got.body, "agents-") || !strings.Contains(got.body, `"id":"`+id+`"`) ||
				!strings.Contains(got.body, "about mine") || strings.Contains(got.body, "kind") || strings.Contains(got.body, "TASK_") {
				t.Errorf("%s: %d %s", what, got.status, got.body)
			}
			if c.events == 0 && !strings.Contains(got.body, `"sessionId":"session"`) || strings.Count(got.body, "data: ") != c.events {
				t.Errorf("%s: %s", what, got.body)
			}
		}
	}
}

// TestOldCallersApart: callers who chose the same ids do not meet, and what nobody
// made is not there.
func TestOldCallersApart(t *testing.T) {
	t.Parallel()
	for _, agent := range newer {
		w := in(t, speaks(agent))
		w.agent.answers(new(chooser).answer)
		tasks := map[string]string{}
		for _, who := range []string{"alice", "bob", "alice", "bob"} {
			got := w.old(who, "tasks/send", oldSend("same", "same"))
			if got.status != 200 || !strings.Contains(got.body, `"id":"same","sessionId":"same"`) {
				t.Errorf("%s: %d %s", agent, got.status, got.body)
			}
			c := w.agent.one(t).call()
			if c.TaskID != tasks[who] {
				t.Errorf("%s: %s goes on with %q, not %q", agent, who, c.TaskID, tasks[who])
			}
			tasks[who] = map[string]string{"alice": "agents-task-1", "bob": "agents-task-2"}[who]
		}
		w.old("alice", "tasks/send", oldSend("alices", ""))
		w.agent.take()
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/pushNotification/get"} {
			for _, id := range []string{"alices", "agents-task-1", "nobodys"} {
				got := w.old("bob", method, `{"id":"`+id+`"}`)
				if !strings.Contains(got.body, "-32001") {
					t.Errorf("%s: %s %s: %s", agent, method, id, got.body)
				}
			}
		}
		w.agent.silent(t, "tasks of others")
	}
}

// TestOldCallersAtOnce: of several first calls with one id, made at the same
// moment, one gets the name. The others are told, and go on with that one.
func TestOldCallersAtOnce(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10))
	a := &chooser{gate: make(chan struct{})}
	w.agent.answers(a.answer)
	const n = 8
	got := make(chan answer, n)
	for range n {
		go func() { got <- w.old("alice", "tasks/send", oldSend("mine", "session")) }()
	}
	eventually(t, "first calls", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.made == n
	})
	close(a.gate)
	made := 0
	for range n {
		switch g := <-got; {
		case g.status == 200 && strings.Contains(g.body, `"id":"mine"`):
			made++
		case !strings.Contains(g.body, "-32602") || strings.Contains(g.body, "agents-"):
			t.Errorf("%d %s", g.status, g.body)
		}
	}
	if made != 1 {
		t.Errorf("%d calls made the task", made)
	}
	w.agent.take()
	w.old("alice", "tasks/get", `{"id":"mine"}`)
	first := w.agent.one(t).call().TaskID
	w.old("alice", "tasks/send", oldSend("mine", "session"))
	if again := w.agent.one(t).call().TaskID; again != first || first == "" {
		t.Errorf("asked about %q, then sent to %q", first, again)
	}
}

// oldAgent is an agent of 0.1: each task is what the client says it is, working
// for as many looks as told, and then done.
type oldAgent struct {
	mu       sync.Mutex
	looks    int
	session  bool // it says which session a task is in
	sessions map[string]string
}

func (a *oldAgent) answer(w http.ResponseWriter, r *record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := r.call()
	if a.sessions == nil {
		a.sessions = map[string]string{}
	}
	if c.Method.Subject == wire.OfMessage {
		a.sessions[c.TaskID] = c.ContextID
	}
	state := "working"
	if c.Method.Name == wire.GetTask {
		if a.looks--; a.looks <= 0 {
			state = "completed"
		}
	}
	task := taskIn(rpc01, c.TaskID, a.sessions[c.TaskID], state, `,"history":[{"role":"user","parts":[{"type":"text","text":"1"}]},{"role":"agent","parts":[]}]`)
	if !a.session {
		task = strings.Replace(task, fmt.Sprintf(`"sessionId":%q,`, a.sessions[c.TaskID]), "", 1)
	}
	r.say(w, task)
}

// shown is the task of an answer of any newer side.
func shown(t testing.TB, got said) (id, context, state string, history int) {
	t.Helper()
	var doc struct {
		Task jsonRaw `json:"task"`
	}
	if len(got.docs) != 1 {
		t.Fatalf("%d %v %s", got.status, got.err, got.body)
	}
	must(t, json.Unmarshal([]byte(got.docs[0]), &doc))
	if doc.Task == nil {
		doc.Task = jsonRaw(got.docs[0])
	}
	var task struct {
		ID        string `json:"id"`
		ContextID string `json:"contextId"`
		Status    struct {
			State string `json:"state"`
		} `json:"status"`
		History []any `json:"history"`
	}
	must(t, json.Unmarshal(doc.Task, &task))
	return task.ID, task.ContextID, strings.ToLower(strings.TrimPrefix(task.Status.State, "TASK_STATE_")), len(task.History)
}

// unhurried is how a side says that it does not want to wait.
func unhurried(s wire.Side) string {
	if s.Version == wire.V10 {
		return `,"configuration":{"returnImmediately":true}`
	}
	return `,"configuration":{"blocking":false}`
}

// TestOldAgents: an agent of 0.1 gets the ids it expects its client to choose, the
// same again for the same task, and callers who wait get the task when it is done.
func TestOldAgents(t *testing.T) {
	t.Parallel()
	for _, caller := range newer {
		for _, session := range []bool{true, false} {
			w := in(t, speaks(rpc01), tied)
			a := &oldAgent{looks: 2, session: session}
			w.agent.answers(a.answer)
			id, context, state, _ := shown(t, w.speak("tied", w.base, caller, ask{method: wire.SendMessage}))
			seen := w.agent.take()
			if len(seen) != 3 || state != "completed" {
				t.Fatalf("%s: %q after %d calls", caller, state, len(seen))
			}
			first := seen[0].call()
			if first.TaskID == "" || first.ContextID == "" || id != first.TaskID || context != first.ContextID {
				t.Errorf("%s (session %t): the caller has %q in %q, the agent %q in %q", caller, session, id, context, first.TaskID, first.ContextID)
			}
			for _, r := range seen[1:] {
				if r.method().Name != wire.GetTask || r.call().TaskID != id {
					t.Errorf("%s: the agent got %s", caller, r.body)
				}
			}
			// The same task goes on, in the same session.
			_, _, state, _ = shown(t, w.speak("tied", w.base, caller, ask{method: wire.SendMessage, task: id, context: context, more: unhurried(caller)}))
			if c := w.agent.one(t).call(); state != "working" || c.TaskID != id || c.ContextID != context {
				t.Errorf("%s: %s, the agent got %q in %q", caller, state, c.TaskID, c.ContextID)
			}
			again, _, state, _ := shown(t, w.speak("tied", w.base, caller, ask{method: wire.GetTask, task: id}))
			if again != id || state != "completed" {
				t.Errorf("%s: got %q %s", caller, again, state)
			}
			other, _, _, _ := shown(t, w.speak("tied", w.base, caller, ask{method: wire.SendMessage, more: unhurried(caller)}))
			if other == id {
				t.Errorf("%s: two tasks of one id", caller)
			}
			w.agent.take()
			w.speak("bob", w.base, rpc10, ask{method: wire.GetTask, task: id}).refused(t, "a task of another", wire.TaskNotFound)
			w.agent.silent(t, "a task of another")
		}
	}
}

// TestOldAgentHistory: who waits gets as much of the history as was asked for.
func TestOldAgentHistory(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc01))
	w.agent.answers((&oldAgent{looks: 2}).answer)
	for want := range 3 {
		_, _, _, history := shown(t, w.speak("alice", w.base, rpc10, ask{
			method: wire.SendMessage, more: fmt.Sprintf(`,"configuration":{"historyLength":%d}`, want),
		}))
		if history != want {
			t.Errorf("asked for %d messages, got %d", want, history)
		}
	}
}

// TestOldAgentForeignContext: the context of somebody else is replaced in what a
// caller has waited for as in any other answer.
func TestOldAgentForeignContext(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc01))
	w.agent.answers((&oldAgent{session: true, looks: 2}).answer)
	w.speak("alice", w.base, rpc10, ask{method: wire.SendMessage, context: "shared"}).ok(t, "alice's")
	w.agent.take()
	for _, more := range []string{"", unhurried(rpc10)} {
		_, context, _, _ := shown(t, w.speak("bob", w.base, rpc10, ask{method: wire.SendMessage, context: "shared", more: more}))
		if seen := w.agent.take()[0].call(); context != "shared" || seen.ContextID == "shared" {
			t.Errorf("bob got %q, the agent %q", context, seen.ContextID)
		}
	}
}

// TestOldAgentFails while a caller waits.
func TestOldAgentFails(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc01))
	a := new(oldAgent)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		if r.method().Name == wire.GetTask {
			r.fail(rw, wire.Internal, "out of order")
			return
		}
		a.answer(rw, r)
	})
	for _, caller := range []wire.Side{rpc10, rest10, rpc03} {
		got := w.speak("alice", w.base, caller, ask{method: wire.SendMessage})
		got.refused(t, caller.String(), wire.Internal)
		if !strings.Contains(got.err.Text(), "out of order") {
			t.Errorf("%s: %v", caller, got.err)
		}
	}
	// A caller who leaves is not waited for.
	w.agent.answers((&oldAgent{looks: 1 << 30}).answer)
	w.http.Timeout = 300_000_000
	if resp, err := w.http.Do(w.request("alice", "POST", "", rpcBody("SendMessage", message("")), "A2A-Version: 1.0")); err == nil {
		_ = resp.Body.Close()
		t.Error("an answer from a task that never ends")
	}
	eventually(t, "end of the looks", func() bool {
		for _, r := range w.audited("call") {
			if r["status"] == 499.0 {
				return true
			}
		}
		return false
	})
}
