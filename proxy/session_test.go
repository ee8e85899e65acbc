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

// TestSessionOfATask: in front of an agent of 0.1, who goes on with a task and does not
// name its context goes on in the session of the task.
func TestSessionOfATask(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc01), tied)
	for _, caller := range sides[:len(sides)-1] {
		kept := new(archive)
		w.agent.answers(kept.answer)
		got := w.speak("tied", w.base, caller, ask{method: wire.SendMessage}).ok(t, caller.String())
		_, rest, _ := strings.Cut(got.docs[0], `"id":"`)
		task, _, _ := strings.Cut(rest, `"`)
		w.agent.take()
		for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			w.speak("tied", w.base, caller, ask{method: name, task: task}).ok(t, caller.String())
			if c := w.agent.one(t).call(); c.TaskID != task || c.ContextID != kept.where[task] {
				t.Errorf("%s %s: the agent got task %q in %q, want %q in %q", caller, name, c.TaskID, c.ContextID, task, kept.where[task])
			}
		}
	}
}

// archive is an agent that keeps its tasks and which contexts they are in.
type archive struct {
	mu    sync.Mutex
	ids   []string
	where map[string]string
}

func (a *archive) answer(w http.ResponseWriter, r *record) {
	s, c := r.side(), r.call()
	switch c.Method.Name {
	case wire.CreatePushConfig:
		registrar(w, r)
		return
	case wire.ListTasks:
		a.list(w, r)
		return
	}
	id, context := a.keep(c, r.Header.Get("X-Request-Id"))
	task, update := taskIn(s, id, context, "input-required", ""), statusIn(s, id, context, "completed", "")
	wrapped := task
	if s.Version == wire.V10 || s.Binding != wire.JSONRPC {
		wrapped = `{"task":` + task + `}`
	}
	switch {
	case c.Method.Streams && s == rpc01:
		r.say(w, update)
	case c.Method.Streams:
		r.say(w, wrapped, update)
	case c.Method.Subject == wire.OfMessage:
		r.say(w, wrapped)
	default:
		r.say(w, task)
	}
}

func (a *archive) keep(c *wire.Call, fresh string) (id, context string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.where == nil {
		a.where = map[string]string{}
	}
	id = cmp.Or(c.TaskID, "task-"+fresh)
	if a.where[id] == "" {
		a.ids = append(a.ids, id)
		a.where[id] = cmp.Or(c.ContextID, "context-"+fresh)
	}
	return id, a.where[id]
}

func (a *archive) list(w http.ResponseWriter, r *record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var tasks []string
	for _, id := range a.ids {
		tasks = append(tasks, taskIn(r.side(), id, a.where[id], "working", ""))
	}
	r.say(w, fmt.Sprintf(`{"tasks":[%s],"nextPageToken":"","pageSize":50,"totalSize":%d}`, strings.Join(tasks, ","), len(tasks)))
}
