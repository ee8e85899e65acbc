package forward_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// several is a gateway in front of one agent of three instances without a common store.
// The card is at the first.
func several(t testing.TB, edit func(*proxytest.Setup)) (*proxytest.Gateway, []*proxytest.Agent) {
	t.Helper()
	more := []*proxytest.Agent{proxytest.NewAgent(t), proxytest.NewAgent(t)}
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		static := []string{strings.TrimSuffix(strings.TrimPrefix(s.Agent.Card.URL.Reveal(), "http://"), "/card")}
		for _, r := range more {
			static = append(static, strings.TrimPrefix(r.URL, "http://"))
		}
		s.Agent.Load.Instances = []upstream.Instances{{Static: static}}
		if edit != nil {
			edit(s)
		}
	})
	all := slices.Concat([]*proxytest.Agent{w.Agent}, more)
	var made atomic.Int64
	for n, r := range all {
		r.Answers(forgetful(n, &made))
	}
	return w, all
}

// forgetful is an instance that knows the tasks and contexts it has made, which have
// its number in their names.
func forgetful(n int, made *atomic.Int64) func(http.ResponseWriter, *proxytest.Request) {
	mine := fmt.Sprintf("of-%d", n)
	return func(w http.ResponseWriter, r *proxytest.Request) {
		var c wire.Call
		if e := c.DecodeJSONRPC(r.Content, wire.V10, wire.Limits{Body: 1 << 20, Depth: 100, Members: 1000, Parts: 100}); e != nil {
			panic(e)
		}
		task := c.TaskID
		if task == "" {
			task = fmt.Sprintf("task-%d-%s", made.Add(1), mine)
		}
		session := c.ContextID
		if session == "" {
			session = "context-" + task
		}
		result := fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_INPUT_REQUIRED"}}`, task, session)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasSuffix(task, mine) || !strings.HasSuffix(session, mine) && strings.HasPrefix(session, "context-"):
			_, _ = fmt.Fprint(w, `{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no such task"}}`)
		case c.Method.Name == wire.SendMessage:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":7,"result":{"task":%s}}`, result)
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":7,"result":%s}`, result)
		}
	}
}

// taskOf finds the ids in an answer.
func taskOf(t testing.TB, got proxytest.Response) (task, session string) {
	t.Helper()
	_, rest, ok := strings.Cut(got.Body, `{"id":"`)
	if !ok || got.Status != 200 {
		t.Fatalf("no task: %d %s", got.Status, got.Body)
	}
	task, rest, _ = strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(rest, `"contextId":"`)
	session, _, _ = strings.Cut(rest, `"`)
	return task, session
}

// TestInstances: whatever follows on a task, or in a context, goes to the instance that
// made it, and the records say which that was.
func TestInstances(t *testing.T) {
	t.Parallel()
	w, all := several(t, nil)
	for n := range 12 {
		task, session := taskOf(t, w.Call("alice", "SendMessage", proxytest.Message("")))
		for _, again := range []proxytest.Response{
			w.Call("alice", "GetTask", `{"id":"`+task+`"}`),
			w.Call("alice", "SendMessage", proxytest.Message(`,"taskId":"`+task+`"`)),
			w.Call("alice", "CancelTask", `{"id":"`+task+`"}`),
		} {
			if got, _ := taskOf(t, again); got != task {
				t.Errorf("asked about %s, told of %s", task, got)
			}
		}
		other, same := taskOf(t, w.Call("alice", "SendMessage", proxytest.Message(`,"contextId":"`+session+`"`)))
		if same != session || other[len(other)-1] != task[len(task)-1] {
			t.Errorf("a further task of %s is %s of %s", session, other, same)
		}
		own := fmt.Sprintf("callers-%d", n)
		first, _ := taskOf(t, w.Call("alice", "SendMessage", proxytest.Message(`,"contextId":"`+own+`"`)))
		second, _ := taskOf(t, w.Call("alice", "SendMessage", proxytest.Message(`,"contextId":"`+own+`"`)))
		if first[len(first)-1] != second[len(second)-1] {
			t.Errorf("tasks %s and %s of one context", first, second)
		}
	}
	seen := map[any]bool{}
	for _, r := range w.Audited("call") {
		seen[r["instance"]] = true
		if r["tries"] != 1.0 {
			t.Errorf("tries are %v", r["tries"])
		}
	}
	want := map[any]bool{}
	for _, r := range all {
		want[strings.TrimPrefix(r.URL, "http://")] = true
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("instances in the records (-want +got):\n%s", diff)
	}
}

// TestInstanceAway: a send on a task whose instance is away is refused, and what was
// refused reached nobody; new work goes elsewhere.
func TestInstanceAway(t *testing.T) {
	t.Parallel()
	w, all := several(t, func(s *proxytest.Setup) { s.Breaker = true; s.Agent.Load.Breaker.Failures = 1 })
	var task string
	for !strings.HasSuffix(task, "of-1") {
		task, _ = taskOf(t, w.Call("alice", "SendMessage", proxytest.Message("")))
	}
	all[1].Close()
	all[0].Take()
	all[2].Take()
	onTask := func() proxytest.Response {
		return w.Call("alice", "SendMessage", proxytest.Message(`,"taskId":"`+task+`"`))
	}
	proxytest.WantStatus(t, "the send that finds out", onTask(), 502, 503) // 502 on a connection that was open
	for range 3 {
		got := onTask()
		proxytest.WantStatus(t, "a send on a task that is away", got, 503)
		if got.Header.Get("Retry-After") == "" || strings.Contains(got.Body, "127.0.0.1") {
			t.Errorf("%v %s", got.Header, got.Body)
		}
	}
	all[0].Silent(t, "a send on another's task")
	all[2].Silent(t, "a send on another's task")
	for range 20 {
		taskOf(t, w.Call("alice", "SendMessage", proxytest.Message("")))
	}
	// The others do not know the task, and say so; the caller must not take it for lost.
	proxytest.WantStatus(t, "a read", w.Call("alice", "GetTask", `{"id":"`+task+`"}`), 503)
	if len(all[0].Take())+len(all[2].Take()) == 20 {
		t.Error("a read was not tried elsewhere")
	}
}
