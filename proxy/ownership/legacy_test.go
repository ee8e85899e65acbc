package ownership_test

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

// newer are the agents that choose the ids of their tasks themselves.
var newer = []wire.Side{proxytest.RPC03, proxytest.REST03, proxytest.GRPC03, proxytest.RPC10, proxytest.REST10, proxytest.GRPC10}

// chooser is an agent that gives each task without an id one of its own, and each
// context.
type chooser struct {
	mu    sync.Mutex
	made  int
	where map[string]string // context of each task
	gate  chan struct{}     // sends wait for it, if there is one
}

func (a *chooser) answer(w http.ResponseWriter, r *proxytest.Request) {
	s, c := r.Side(), r.Call()
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
	if s == proxytest.RPC03 {
		message = fmt.Sprintf(`,"message":{"kind":"message","messageId":"x","role":"agent","taskId":%q,"contextId":%q,"parts":[{"kind":"text","text":"about mine"}]}`, id, context)
	}
	task := strings.Replace(proxytest.TaskIn(s, id, context, "working", ""), `"}}`, `"`+message+`}}`, 1)
	if s != proxytest.RPC03 && (c.Method.Subject == wire.OfMessage || c.Method.Streams) {
		task = `{"task":` + task + `}`
	}
	switch {
	case c.Method.Streams:
		r.Say(w, task, proxytest.ArtifactIn(s, id, context), proxytest.StatusIn(s, id, context, "completed", message))
	default:
		r.Say(w, task)
	}
}

// old makes a call of 0.1 without a version header, as its clients do.
func old(w *proxytest.Gateway, who, method, params string) proxytest.Response {
	w.Helper()
	return w.Do(who, "POST", "", proxytest.RPCBody(method, params))
}

// TestOldCallers: the ids that a client of 0.1 chose are its own in every answer
// and event, and none of the agent's business.
func TestOldCallers(t *testing.T) {
	t.Parallel()
	for _, agent := range newer {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
		w.Agent.Answers(new(chooser).answer)
		calls := []struct {
			method, params string
			name           string // 1.0
			task           string // that the agent is told
			events         int
		}{
			{"tasks/send", proxytest.OldSend("mine", "session"), wire.SendMessage, "", 0},
			{"tasks/send", proxytest.OldSend("mine", "session"), wire.SendMessage, "agents-task-1", 0},
			{"tasks/send", proxytest.OldSend("mine", ""), wire.SendMessage, "agents-task-1", 0},
			{"tasks/get", `{"id":"mine"}`, wire.GetTask, "agents-task-1", 0},
			{"tasks/cancel", `{"id":"mine"}`, wire.CancelTask, "agents-task-1", 0},
			{"tasks/resubscribe", `{"id":"mine"}`, wire.SubscribeToTask, "agents-task-1", 3},
			{"tasks/resubscribe", `{"id":"mine","historyLength":1}`, wire.SubscribeToTask, "agents-task-1", 3},
			{"tasks/sendSubscribe", proxytest.OldSend("mine", "session"), wire.SendStreamingMessage, "agents-task-1", 3},
			{"tasks/sendSubscribe", proxytest.OldSend("second", "session"), wire.SendStreamingMessage, "", 3},
			{"tasks/get", `{"id":"second"}`, wire.GetTask, "agents-task-2", 0},
		}
		for _, c := range calls {
			what := fmt.Sprintf("%s in front of %s", c.method, agent)
			got := old(w, "alice", c.method, c.params)
			seen := w.Agent.One(t)
			if said := seen.Call(); said.TaskID != c.task || seen.Called().Name != c.name {
				t.Errorf("%s: the agent got %s %q: %s %s", what, seen.Called().Name, said.TaskID, seen.URL, seen.Content)
			}
			if all := fmt.Sprint(seen.URL, string(seen.Content)); strings.Contains(all, "mine") || strings.Contains(all, "session") {
				t.Errorf("%s: the agent got %s", what, all)
			}
			id := "mine"
			if strings.Contains(c.params, "second") {
				id = "second"
			}
			if got.Status != 200 || strings.Contains(got.Body, "agents-") || !strings.Contains(got.Body, `"id":"`+id+`"`) ||
				!strings.Contains(got.Body, "about mine") || strings.Contains(got.Body, "kind") || strings.Contains(got.Body, "TASK_") {
				t.Errorf("%s: %d %s", what, got.Status, got.Body)
			}
			if c.events == 0 && !strings.Contains(got.Body, `"sessionId":"session"`) || strings.Count(got.Body, "data: ") != c.events {
				t.Errorf("%s: %s", what, got.Body)
			}
		}
	}
}

// TestOldCallersApart: callers who chose the same ids do not meet, and what nobody
// made is not there.
func TestOldCallersApart(t *testing.T) {
	t.Parallel()
	for _, agent := range newer {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
		w.Agent.Answers(new(chooser).answer)
		tasks := map[string]string{}
		for _, who := range []string{"alice", "bob", "alice", "bob"} {
			got := old(w, who, "tasks/send", proxytest.OldSend("same", "same"))
			if got.Status != 200 || !strings.Contains(got.Body, `"id":"same","sessionId":"same"`) {
				t.Errorf("%s: %d %s", agent, got.Status, got.Body)
			}
			c := w.Agent.One(t).Call()
			if c.TaskID != tasks[who] {
				t.Errorf("%s: %s goes on with %q, not %q", agent, who, c.TaskID, tasks[who])
			}
			tasks[who] = map[string]string{"alice": "agents-task-1", "bob": "agents-task-2"}[who]
		}
		old(w, "alice", "tasks/send", proxytest.OldSend("alices", ""))
		w.Agent.Take()
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/pushNotification/get"} {
			for _, id := range []string{"alices", "agents-task-1", "nobodys"} {
				got := old(w, "bob", method, `{"id":"`+id+`"}`)
				if !strings.Contains(got.Body, "-32001") {
					t.Errorf("%s: %s %s: %s", agent, method, id, got.Body)
				}
			}
		}
		w.Agent.Silent(t, "tasks of others")
	}
}

// TestOldCallersAtOnce: of several first calls with one id, made at the same
// moment, one gets the name. The others are told, and go on with that one.
func TestOldCallersAtOnce(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10))
	a := &chooser{gate: make(chan struct{})}
	w.Agent.Answers(a.answer)
	const n = 8
	got := make(chan proxytest.Response, n)
	for range n {
		go func() { got <- old(w, "alice", "tasks/send", proxytest.OldSend("mine", "session")) }()
	}
	proxytest.Eventually(t, "first calls", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.made == n
	})
	close(a.gate)
	made := 0
	for range n {
		switch g := <-got; {
		case g.Status == 200 && strings.Contains(g.Body, `"id":"mine"`):
			made++
		case !strings.Contains(g.Body, "-32602") || strings.Contains(g.Body, "agents-"):
			t.Errorf("%d %s", g.Status, g.Body)
		}
	}
	if made != 1 {
		t.Errorf("%d calls made the task", made)
	}
	w.Agent.Take()
	old(w, "alice", "tasks/get", `{"id":"mine"}`)
	first := w.Agent.One(t).Call().TaskID
	old(w, "alice", "tasks/send", proxytest.OldSend("mine", "session"))
	if again := w.Agent.One(t).Call().TaskID; again != first || first == "" {
		t.Errorf("asked about %q, then sent to %q", first, again)
	}
}

// TestOldAgents: an agent of 0.1 gets the ids it expects its client to choose, the
// same again for the same task, and callers who wait get the task when it is done.
func TestOldAgents(t *testing.T) {
	t.Parallel()
	for _, caller := range newer {
		for _, session := range []bool{true, false} {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01), proxytest.WithTied)
			a := &proxytest.OldAgent{Looks: 2, Session: session}
			w.Agent.Answers(a.Answer)
			id, context, state, _ := proxytest.ShownTask(t, w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}))
			seen := w.Agent.Take()
			if len(seen) != 3 || state != "completed" {
				t.Fatalf("%s: %q after %d calls", caller, state, len(seen))
			}
			first := seen[0].Call()
			if first.TaskID == "" || first.ContextID == "" || id != first.TaskID || context != first.ContextID {
				t.Errorf("%s (session %t): the caller has %q in %q, the agent %q in %q", caller, session, id, context, first.TaskID, first.ContextID)
			}
			for _, r := range seen[1:] {
				if r.Called().Name != wire.GetTask || r.Call().TaskID != id {
					t.Errorf("%s: the agent got %s", caller, r.Content)
				}
			}
			// The same task goes on, in the same session.
			_, _, state, _ = proxytest.ShownTask(t, w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Task: id, Context: context, More: proxytest.Unhurried(caller)}))
			if c := w.Agent.One(t).Call(); state != "working" || c.TaskID != id || c.ContextID != context {
				t.Errorf("%s: %s, the agent got %q in %q", caller, state, c.TaskID, c.ContextID)
			}
			again, _, state, _ := proxytest.ShownTask(t, w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetTask, Task: id}))
			if again != id || state != "completed" {
				t.Errorf("%s: got %q %s", caller, again, state)
			}
			other, _, _, _ := proxytest.ShownTask(t, w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, More: proxytest.Unhurried(caller)}))
			if other == id {
				t.Errorf("%s: two tasks of one id", caller)
			}
			w.Agent.Take()
			w.Speak("bob", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: id}).Refused(t, "a task of another", wire.TaskNotFound)
			w.Agent.Silent(t, "a task of another")
		}
	}
}

// TestOldAgentHistory: who waits gets as much of the history as was asked for.
func TestOldAgentHistory(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01))
	w.Agent.Answers((&proxytest.OldAgent{Looks: 2}).Answer)
	for want := range 3 {
		_, _, _, history := proxytest.ShownTask(t, w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{
			Method: wire.SendMessage, More: fmt.Sprintf(`,"configuration":{"historyLength":%d}`, want),
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01))
	w.Agent.Answers((&proxytest.OldAgent{Session: true, Looks: 2}).Answer)
	w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared"}).OK(t, "alice's")
	w.Agent.Take()
	for _, more := range []string{"", proxytest.Unhurried(proxytest.RPC10)} {
		_, context, _, _ := proxytest.ShownTask(t, w.Speak("bob", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "shared", More: more}))
		if seen := w.Agent.Take()[0].Call(); context != "shared" || seen.ContextID == "shared" {
			t.Errorf("bob got %q, the agent %q", context, seen.ContextID)
		}
	}
}

// TestOldAgentFails while a caller waits.
func TestOldAgentFails(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01))
	a := new(proxytest.OldAgent)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.Called().Name == wire.GetTask {
			r.Fail(rw, wire.Internal, "out of order")
			return
		}
		a.Answer(rw, r)
	})
	for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03} {
		got := w.Speak("alice", w.Base, caller, proxytest.Ask{Method: wire.SendMessage})
		got.Refused(t, caller.String(), wire.Internal)
		if !strings.Contains(got.Err.Text(), "out of order") {
			t.Errorf("%s: %v", caller, got.Err)
		}
	}
	// A caller who leaves is not waited for.
	w.Agent.Answers((&proxytest.OldAgent{Looks: 1 << 30}).Answer)
	w.Client.Timeout = 300_000_000
	if resp, err := w.Client.Do(w.Request("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0")); err == nil {
		_ = resp.Body.Close()
		t.Error("an answer from a task that never ends")
	}
	proxytest.Eventually(t, "end of the looks", func() bool {
		for _, r := range w.Audited("call") {
			if r["status"] == 499.0 {
				return true
			}
		}
		return false
	})
}
