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

// TestSessionOfATask: in front of an agent of 0.1, who goes on with a task and does not
// name its context goes on in the session of the task.
func TestSessionOfATask(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01), proxytest.WithTied)
	for _, caller := range proxytest.Sides[:len(proxytest.Sides)-1] {
		kept := new(archive)
		w.Agent.Answers(kept.answer)
		got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage}).OK(t, caller.String())
		_, rest, _ := strings.Cut(got.Docs[0], `"id":"`)
		task, _, _ := strings.Cut(rest, `"`)
		w.Agent.Take()
		for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			w.Speak("tied", w.Base, caller, proxytest.Ask{Method: name, Task: task}).OK(t, caller.String())
			if c := w.Agent.One(t).Call(); c.TaskID != task || c.ContextID != kept.where[task] {
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

func (a *archive) answer(w http.ResponseWriter, r *proxytest.Request) {
	s, c := r.Side(), r.Call()
	switch c.Method.Name {
	case wire.CreatePushConfig:
		proxytest.Registrar(w, r)
		return
	case wire.ListTasks:
		a.list(w, r)
		return
	}
	id, context := a.keep(c, r.Header.Get("X-Request-Id"))
	task, update := proxytest.TaskIn(s, id, context, "input-required", ""), proxytest.StatusIn(s, id, context, "completed", "")
	wrapped := task
	if s.Version == wire.V10 || s.Binding != wire.JSONRPC {
		wrapped = `{"task":` + task + `}`
	}
	switch {
	case c.Method.Streams && s == proxytest.RPC01:
		r.Say(w, update)
	case c.Method.Streams:
		r.Say(w, wrapped, update)
	case c.Method.Subject == wire.OfMessage:
		r.Say(w, wrapped)
	default:
		r.Say(w, task)
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

func (a *archive) list(w http.ResponseWriter, r *proxytest.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var tasks []string
	for _, id := range a.ids {
		tasks = append(tasks, proxytest.TaskIn(r.Side(), id, a.where[id], "working", ""))
	}
	r.Say(w, fmt.Sprintf(`{"tasks":[%s],"nextPageToken":"","pageSize":50,"totalSize":%d}`, strings.Join(tasks, ","), len(tasks)))
}
