package tasklist_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// shelf is an agent that cannot list its tasks, and has these.
type shelf struct {
	mu    sync.Mutex
	tasks map[string]string // members of each beside its ids, in the agent's words
	where map[string]string // context of each
	next  string            // the task that the next send makes
	asked int               // gets so far
}

func (s *shelf) answer(w http.ResponseWriter, r *proxytest.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := r.Call()
	id := c.TaskID
	if c.Method.Subject == wire.OfMessage && id == "" {
		id = s.next
	}
	if c.Method.Name == wire.GetTask {
		s.asked++
	}
	more, ok := s.tasks[id]
	if !ok {
		r.Fail(w, wire.TaskNotFound, "Task not found")
		return
	}
	task := fmt.Sprintf(`{"kind":"task","id":%q,"contextId":%q%s}`, id, s.where[id], more)
	if r.Side().Binding != wire.JSONRPC {
		if task = fmt.Sprintf(`{"id":%q,"contextId":%q%s}`, id, s.where[id], more); c.Method.Subject == wire.OfMessage {
			task = `{"task":` + task + `}`
		}
	}
	r.Say(w, task)
}

// make has a caller make a task, and changes then what the agent says of it.
func (s *shelf) make(w *proxytest.Gateway, who, id, context, more string) {
	w.Helper()
	s.mu.Lock()
	s.tasks[id], s.where[id], s.next = `,"status":{"state":"completed"}`, context, id
	s.mu.Unlock()
	w.Speak(who, w.Base, proxytest.RPC03, proxytest.Ask{Method: wire.SendMessage}).OK(w, "make "+id)
	s.mu.Lock()
	s.tasks[id] = more
	s.mu.Unlock()
}

// listPage is the result of ListTasks.
type listPage struct {
	Tasks []listedTask `json:"tasks"`
	Next  *string      `json:"nextPageToken"`
	Size  int          `json:"pageSize"`
	Total int          `json:"totalSize"`
}

type listedTask struct {
	ID        string           `json:"id"`
	ContextID string           `json:"contextId"`
	Status    map[string]any   `json:"status"`
	Artifacts []map[string]any `json:"artifacts"`
	History   []map[string]any `json:"history"`
}

func (p listPage) ids() string {
	var all []string
	for _, t := range p.Tasks {
		all = append(all, t.ID)
	}
	return strings.Join(all, " ")
}

// list asks for tasks in the words of a side: members as they are in JSON.
func list(w *proxytest.Gateway, who string, s wire.Side, members map[string]any) (listPage, proxytest.Reply) {
	w.Helper()
	a := proxytest.Ask{Method: wire.ListTasks}
	var more, query []string
	for name, v := range members {
		text, err := json.Marshal(v)
		proxytest.Must(w, err)
		more = append(more, fmt.Sprintf(`%q:%s`, name, text))
		query = append(query, name+"="+strings.NewReplacer("+", "%2B", `"`, "").Replace(string(text)))
	}
	if s.Binding == wire.GRPC {
		more = append(more, `"tenant":"rec"`)
	}
	a.More, a.Query = ","+strings.Join(more, ","), strings.Join(query, "&")
	if len(more) == 0 {
		a.More = ""
	}
	got := w.Speak(who, w.Base, s, a)
	var page listPage
	if got.Err == nil && len(got.Docs) == 1 {
		if err := json.Unmarshal([]byte(got.Docs[0]), &page); err != nil {
			w.Fatalf("%s %v: %v: %d %v %q", s, members, err, got.Status, got.Header, got.Body)
		}
	}
	return page, got
}

// newShelf builds a world around a shelf: nine tasks of alice's in two contexts,
// one of bob's.
func newShelf(t testing.TB, edit ...func(*proxytest.Setup)) (*proxytest.Gateway, *shelf) {
	t.Helper()
	s := &shelf{tasks: map[string]string{}, where: map[string]string{}}
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), edit...)
	w.Agent.Answers(s.answer)
	at := func(state, when string) string {
		return fmt.Sprintf(`,"status":{"state":%q,"timestamp":%q}`, state, when)
	}
	const detail = `,"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}],"history":[` +
		`{"kind":"message","messageId":"1","role":"user","parts":[]},{"kind":"message","messageId":"2","role":"agent","parts":[]}]`
	s.make(w, "alice", "t1", "one", at("completed", "2026-01-01T00:00:01Z")+detail)
	s.make(w, "alice", "t2", "one", at("working", "2026-01-01T00:00:02.000Z"))
	s.make(w, "alice", "t3", "two", at("working", "2026-01-01T00:00:03+00:00"))
	s.make(w, "alice", "t4", "two", at("input-required", "2026-01-01T02:00:04+02:00"))
	s.make(w, "alice", "t5", "two", at("canceled", "2026-01-01T00:00:05.5Z"))
	s.make(w, "alice", "t6b", "two", at("rejected", "2026-01-01T00:00:06Z"))
	s.make(w, "alice", "t6a", "two", at("failed", "2026-01-01T00:00:06Z"))
	s.make(w, "bob", "b1", "three", at("completed", "2026-01-01T00:00:09Z"))
	s.make(w, "alice", "gone", "one", "")
	delete(s.tasks, "gone")
	s.asked = 0
	w.Agent.Take()
	return w, s
}

// TestListFilters: what ListTasks may ask for, in front of an agent of 0.3 that has
// no lists.
func TestListFilters(t *testing.T) {
	t.Parallel()
	w, _ := newShelf(t)
	for name, tt := range map[string]struct {
		ask   map[string]any
		want  string
		total int
	}{
		"all":             {nil, "t6a t6b t5 t4 t3 t2 t1", 7},
		"context":         {map[string]any{"contextId": "one"}, "t2 t1", 2},
		"no such context": {map[string]any{"contextId": "four"}, "", 0},
		"another's":       {map[string]any{"contextId": "three"}, "", 0},
		"state":           {map[string]any{"status": "TASK_STATE_WORKING"}, "t3 t2", 2},
		"canceled":        {map[string]any{"status": "TASK_STATE_CANCELED"}, "t5", 1},
		"any state":       {map[string]any{"status": "TASK_STATE_UNSPECIFIED"}, "t6a t6b t5 t4 t3 t2 t1", 7},
		"since":           {map[string]any{"statusTimestampAfter": "2026-01-01T00:00:05Z"}, "t6a t6b t5", 3},
		"since in a zone": {map[string]any{"statusTimestampAfter": "2026-01-01T01:00:05+01:00"}, "t6a t6b t5", 3},
		"size":            {map[string]any{"pageSize": 2}, "t6a t6b", 7},
		"largest":         {map[string]any{"pageSize": 100}, "t6a t6b t5 t4 t3 t2 t1", 7},
		"several":         {map[string]any{"contextId": "two", "status": "TASK_STATE_WORKING", "pageSize": 1}, "t3", 1},
	} {
		for _, s := range proxytest.ListSides {
			page, got := list(w, "alice", s, tt.ask)
			got.OK(t, name+" "+s.String())
			size, _ := tt.ask["pageSize"].(int)
			if page.ids() != tt.want || page.Total != tt.total || page.Size != cmp.Or(size, 50) {
				t.Errorf("%s, %s: %s", s, name, got.Docs)
			}
			if s != proxytest.GRPC10 && page.Next == nil {
				t.Errorf("%s, %s: no nextPageToken: %s", s, name, got.Docs)
			}
			for _, r := range w.Agent.Take() {
				if r.Side() != proxytest.RPC03 || r.Called().Name != wire.GetTask || r.Call().TaskID == "b1" {
					t.Errorf("%s, %s: the agent got %s", s, name, r.Content)
				}
			}
		}
	}
	if page, _ := list(w, "bob", proxytest.RPC10, nil); page.ids() != "b1" {
		t.Errorf("bob has %s", page.ids())
	}
	if page, _ := list(w, "alice", proxytest.RPC10, map[string]any{"status": 2}); page.ids() != "t3 t2" {
		t.Errorf("a state by its number: %s", page.ids())
	}
	got := w.Speak("alice", w.Base, proxytest.REST10, proxytest.Ask{Method: wire.ListTasks, Query: "page_size=1&status_timestamp_after=2026-01-01T00%3A00%3A06Z"})
	if len(got.Docs) != 1 || !strings.Contains(got.Docs[0], `"totalSize":2`) || !strings.Contains(got.Docs[0], `"pageSize":1`) {
		t.Errorf("snake_case: %s", got.Body)
	}
}

// TestListDetails: artifacts and history are left out unless asked for, whatever
// the agent makes of the question.
func TestListDetails(t *testing.T) {
	t.Parallel()
	w, _ := newShelf(t)
	for _, s := range proxytest.ListSides {
		for _, tt := range []struct {
			ask                map[string]any
			artifacts, history int
		}{
			{nil, 0, 0},
			{map[string]any{"includeArtifacts": true}, 1, 0},
			{map[string]any{"includeArtifacts": false, "historyLength": 1}, 0, 1},
			{map[string]any{"historyLength": 5}, 0, 2},
			{map[string]any{"historyLength": 0}, 0, 0},
		} {
			page, got := list(w, "alice", s, tt.ask)
			i := slices.IndexFunc(page.Tasks, func(task listedTask) bool { return task.ID == "t1" })
			if i < 0 || len(page.Tasks[i].Artifacts) != tt.artifacts || len(page.Tasks[i].History) != tt.history {
				t.Errorf("%s %v: %s", s, tt.ask, got.Docs)
				continue
			}
			if h := page.Tasks[i].History; tt.history == 1 && h[0]["messageId"] != "2" {
				t.Errorf("%s: not the latest message: %v", s, h)
			}
			if page.Tasks[i].ContextID != "one" || page.Tasks[i].Status["state"] != "TASK_STATE_COMPLETED" {
				t.Errorf("%s: %s", s, got.Docs)
			}
		}
	}
}

// TestListPages: page after page shows every task once.
func TestListPages(t *testing.T) {
	t.Parallel()
	w, shelf := newShelf(t)
	for _, s := range proxytest.ListSides {
		for size := 1; size <= 8; size++ {
			var all []string
			members := map[string]any{"pageSize": size}
			for range 9 {
				page, got := list(w, "alice", s, members)
				got.OK(t, s.String())
				all = append(all, page.ids())
				if page.Next == nil || *page.Next == "" {
					break
				}
				if len(page.Tasks) != size || page.Total != 7 {
					t.Errorf("%s: a page of %d: %s", s, size, got.Docs)
				}
				members["pageToken"] = *page.Next
			}
			if got := strings.TrimSpace(strings.Join(all, " ")); got != "t6a t6b t5 t4 t3 t2 t1" {
				t.Errorf("%s: in pages of %d: %s", s, size, got)
			}
		}
	}
	// Between two pages a task changes: it may be seen again, and none is lost.
	first, _ := list(w, "alice", proxytest.RPC10, map[string]any{"pageSize": 3})
	shelf.make(w, "alice", "t7", "two", `,"status":{"state":"working","timestamp":"2026-01-02T00:00:00Z"}`)
	second, got := list(w, "alice", proxytest.RPC10, map[string]any{"pageSize": 10, "pageToken": *first.Next})
	if second.ids() != "t4 t3 t2 t1" {
		t.Errorf("%s", got.Docs)
	}
}

// TestListRefusals: what a list cannot be asked.
func TestListRefusals(t *testing.T) {
	t.Parallel()
	w, _ := newShelf(t)
	w.Agent.Take()
	for name, members := range map[string]map[string]any{
		"too many":         {"pageSize": 101},
		"less than none":   {"pageSize": -1},
		"negative history": {"historyLength": -1},
		"token":            {"pageToken": "x"},
		"token of another": {"pageToken": "MjAyNi0wMS0wMQ"},
	} {
		for _, s := range proxytest.ListSides {
			_, got := list(w, "alice", s, members)
			got.Refused(t, name+" "+s.String(), wire.InvalidParams)
		}
	}
	for name, members := range map[string]map[string]any{
		"half a page": {"pageSize": 1.5}, "state": {"status": "WORKING_HARD"}, "time": {"statusTimestampAfter": "yesterday"},
		"artifacts": {"includeArtifacts": "maybe"},
	} {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10} {
			_, got := list(w, "alice", s, members)
			got.Refused(t, name+" "+s.String(), wire.InvalidParams)
		}
	}
	w.Agent.Silent(t, "refused")
	w.Speak("alice", w.Base, proxytest.REST03, proxytest.Ask{Method: wire.ListTasks}).Refused(t, "0.3 has no lists", wire.Unsupported)
}

// TestListLimit: more tasks than the operator lets the agent be asked for are
// refused by the name of the setting, unless a context makes them fewer.
func TestListLimit(t *testing.T) {
	t.Parallel()
	w, shelf := newShelf(t, func(s *proxytest.Setup) { s.Server.Limits.ListedTasks = 5 })
	for _, s := range proxytest.ListSides {
		_, got := list(w, "alice", s, nil)
		got.Refused(t, s.String(), wire.Unsupported)
		if !strings.Contains(got.Err.Text(), "server.limits.listedTasks (5)") {
			t.Errorf("%s: %v", s, got.Err)
		}
	}
	if shelf.asked != 0 {
		t.Errorf("the agent was asked %d times", shelf.asked)
	}
	if page, got := list(w, "alice", proxytest.RPC10, map[string]any{"contextId": "two"}); page.ids() != "t6a t6b t5 t4 t3" {
		t.Errorf("%s", got.Body)
	}
}

// TestListAgentFails: a list of which a part could not be had is none.
func TestListAgentFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, *proxytest.Request)
		want   *wire.Kind
	}{
		"an error": {func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Internal, "out of order") }, wire.Internal},
		"no task": {func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, `{"kind":"message","messageId":"m","role":"agent","parts":[]}`)
		}, wire.BadAgentResponse},
		"another": {func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, proxytest.TaskIn(proxytest.RPC03, "b1", "three", "working", ""))
		}, wire.BadAgentResponse},
		"no JSON": {func(rw http.ResponseWriter, _ *proxytest.Request) { rw.WriteHeader(http.StatusOK) }, wire.BadAgentResponse},
		"bad parts": {func(rw http.ResponseWriter, r *proxytest.Request) {
			r.Say(rw, proxytest.TaskIn(proxytest.RPC03, r.Call().TaskID, "one", "working", `,"artifacts":7`))
		}, wire.BadAgentResponse},
	} {
		w, shelf := newShelf(t)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			if r.Call().TaskID == "t3" {
				tt.answer(rw, r)
				return
			}
			shelf.answer(rw, r)
		})
		for _, s := range proxytest.ListSides {
			_, got := list(w, "alice", s, nil)
			got.Refused(t, name+" "+s.String(), tt.want)
			if strings.Contains(got.Body, "b1") {
				t.Errorf("%s: %s", name, got.Body)
			}
		}
	}
}

// TestListForeignContext: a caller lists the tasks of a context that had to be
// replaced under the name by which the caller knows it.
func TestListForeignContext(t *testing.T) {
	t.Parallel()
	w, shelf := newShelf(t)
	alias := ""
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		if c := r.Call(); c.Method.Subject == wire.OfMessage {
			alias = c.ContextID
			shelf.mu.Lock()
			shelf.tasks["b2"], shelf.where["b2"] = `,"status":{"state":"working"}`, alias
			shelf.mu.Unlock()
			r.Say(rw, proxytest.TaskIn(proxytest.RPC03, "b2", alias, "working", ""))
			return
		}
		shelf.answer(rw, r)
	})
	w.Speak("bob", w.Base, proxytest.RPC03, proxytest.Ask{Method: wire.SendMessage, Context: "one"}).OK(t, "in alice's context")
	if alias == "" || alias == "one" {
		t.Fatalf("the agent saw %q", alias)
	}
	for _, s := range proxytest.ListSides {
		page, got := list(w, "bob", s, map[string]any{"contextId": "one"})
		if page.ids() != "b2" || page.Tasks[0].ContextID != "one" {
			t.Errorf("%s: %v %v", s, got.Docs, got.Err)
		}
	}
}
