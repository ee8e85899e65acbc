package tasklist_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// library is an agent that lists its tasks, those of all callers, the latest first. It
// knows nothing of callers.
type library struct {
	books []book
	asked atomic.Int64 // for lists

	answer func(l *library, a inquiry) string // for agents with ways of their own
}

type book struct{ id, context, state string }

// inquiry is what a list call asks of the agent.
type inquiry struct {
	call        *wire.Call
	size, token string
	state       string
}

func (l *library) ServeAgent(w http.ResponseWriter, r *proxytest.Request) {
	c := r.Call()
	if c.Method.Name != wire.ListTasks {
		proxytest.Fluent(w, r)
		return
	}
	l.asked.Add(1)
	a := inquiry{call: c, token: c.PageToken, size: inquired(r, c, "pageSize"), state: inquired(r, c, "status")}
	if l.answer != nil {
		r.Say(w, l.answer(l, a))
		return
	}
	r.Say(w, l.page(a))
}

// inquired is what a call says, in its query or params.
func inquired(r *proxytest.Request, c *wire.Call, name string) string {
	if c.Binding == wire.HTTPJSON {
		return r.URL.Query().Get(name)
	}
	_, rest, _ := strings.Cut(string(c.Params), `"`+name+`":`)
	value, _, _ := strings.Cut(strings.TrimLeft(rest, `"`), ",")
	return strings.Trim(value, `"}`)
}

// page is an honest answer, whose token is the id of the last task.
func (l *library) page(a inquiry) string {
	size, err := strconv.Atoi(a.size)
	if err != nil {
		size = 50
	}
	return l.from(a, size)
}

func (l *library) from(a inquiry, size int) string {
	var match []book
	for _, b := range l.books {
		if (a.call.ContextID == "" || b.context == a.call.ContextID) && (a.state == "" || b.state == a.state) {
			match = append(match, b)
		}
	}
	rest := match
	if a.token != "" {
		rest = match[1+slices.IndexFunc(match, func(b book) bool { return b.id == a.token }):]
	}
	next := ""
	if len(rest) > size {
		rest, next = rest[:size], rest[size-1].id
	}
	return listOf(rest, next, size, len(match))
}

func listOf(books []book, next string, size, total int) string {
	var all []string
	for _, b := range books {
		all = append(all, fmt.Sprintf(`{"id":%q,"contextId":%q, "status":{"state":%q}}`, b.id, b.context, b.state))
	}
	return fmt.Sprintf(`{"tasks":[%s],"nextPageToken":%q,"pageSize":%d,"totalSize":%d}`, strings.Join(all, ","), next, size, total)
}

// newLibrary builds a world around a library with so many tasks of alice's and as many
// of bob's: first a run of bob's, then in turn.
func newLibrary(t testing.TB, of wire.Side, each int, edit ...func(*proxytest.Setup)) (*proxytest.Gateway, *library) {
	t.Helper()
	lib := &library{}
	states := []string{"TASK_STATE_COMPLETED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}
	add := func(who string, i int) {
		n := len(lib.books)
		lib.books = append(lib.books, book{
			fmt.Sprintf("%s-%d", who, i), fmt.Sprintf("%s-c%d", who, i%10), states[n%3],
		})
	}
	run := each / 4
	for i := range run {
		add("bob", i)
	}
	for i := range each {
		add("alice", i)
		if run+i < each {
			add("bob", run+i)
		}
	}
	var store state.Ledger
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(of), append(edit, func(s *proxytest.Setup) { store = s.Store })...)
	w.Agent.Answers(lib.ServeAgent)
	book := ledger.New(store, ledger.Config{})
	for _, b := range slices.Backward(lib.books) {
		who, _, _ := strings.Cut(b.id, "-")
		seen := wire.Answer{Kind: "task", Tasks: []wire.TaskRef{{ID: b.id, ContextID: b.context}}, ContextID: b.context}
		p := &authn.Principal{Subject: who, Issuer: "api-keys"}
		_, err := book.Learn(t.Context(), p, ledger.Origin{Agent: "rec", Skill: "read", Version: "1.0"}, seen)
		proxytest.Must(w, err)
	}
	return w, lib
}

// want are the ids of a caller's tasks in the agent's order.
func (l *library) want(who string, f map[string]any) []string {
	var ids []string
	for _, b := range l.books {
		if strings.HasPrefix(b.id, who+"-") &&
			(f["contextId"] == nil || f["contextId"] == b.context) && (f["status"] == nil || f["status"] == b.state) {
			ids = append(ids, b.id)
		}
	}
	return ids
}

// walk reads a list to its end and returns the ids, and how many pages that were.
func walk(w *proxytest.Gateway, who string, s wire.Side, filter map[string]any, size, most int) (ids []string, pages int) {
	w.Helper()
	f := map[string]any{"pageSize": size}
	for k, v := range filter {
		f[k] = v
	}
	for pages = 1; ; pages++ {
		page, got := list(w, who, s, f)
		got.OK(w, fmt.Sprint(s, " ", f))
		switch {
		case page.Total > most:
			w.Errorf("%s: %d of %d tasks", s, page.Total, most)
		case len(page.Tasks) > size, page.Size != size:
			w.Errorf("%s: %d tasks on a page of %d, which says %d", s, len(page.Tasks), size, page.Size)
		}
		for _, t := range page.Tasks {
			ids = append(ids, t.ID)
		}
		if page.Next == nil || *page.Next == "" {
			return ids, pages
		}
		if f["pageToken"] == *page.Next || pages > 2*most+10 {
			w.Fatalf("%s: no end after %d pages", s, pages)
		}
		f["pageToken"] = *page.Next
	}
}

// A2: every task of the caller's is listed once, in the agent's order and through pages
// of any size, and nothing of anybody else's, neither in entries nor in figures.
func TestA02_PagesOfAThousand(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		w, lib := newLibrary(t, agent, 1000)
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			t.Run(caller.String()+" to "+agent.String(), func(t *testing.T) {
				t.Parallel()
				w := w.For(t)
				for _, tt := range []struct {
					who    string
					size   int
					filter map[string]any
				}{
					{"alice", 100, nil},
					{"bob", 50, nil},
					{"alice", 50, map[string]any{"status": "TASK_STATE_WORKING"}},
					{"bob", 7, map[string]any{"contextId": "bob-c3"}},
					{"alice", 1, map[string]any{"contextId": "alice-c3", "status": "TASK_STATE_WORKING"}},
					{"alice", 50, map[string]any{"contextId": "bob-c3"}},
					{"bob", 50, map[string]any{"status": "TASK_STATE_FAILED"}},
				} {
					if ids, _ := walk(w, tt.who, caller, tt.filter, tt.size, 1000); !slices.Equal(ids, lib.want(tt.who, tt.filter)) {
						t.Errorf("%+v: %d tasks, want %d: %.200v", tt, len(ids), len(lib.want(tt.who, tt.filter)), ids)
					}
				}
			})
		}
	}
}

// A2: the same one by one.
func TestA02_PagesOfOne(t *testing.T) {
	testenv.Long(t, "a thousand tasks are listed one by one")
	t.Parallel()
	w, lib := newLibrary(t, proxytest.RPC10, 1000)
	ids, pages := walk(w, "alice", proxytest.RPC10, nil, 1, 1000)
	if !slices.Equal(ids, lib.want("alice", nil)) || pages > 1000 {
		t.Errorf("%d tasks on %d pages", len(ids), pages)
	}
	ids, _ = walk(w, "bob", proxytest.RPC10, nil, 7, 1000)
	if !slices.Equal(ids, lib.want("bob", nil)) {
		t.Errorf("%d tasks", len(ids))
	}
}

// What an honest agent says passes as it is, where it is all the caller's.
func TestPageOfOwnTasksIsUntouched(t *testing.T) {
	t.Parallel()
	w, lib := newLibrary(t, proxytest.RPC10, 1)
	const doc = `{ "tasks":[ {"id":"alice-0","contextId":"alice-c0", "status":{"state":"TASK_STATE_WORKING"}} ] ,"pageSize":50, "totalSize":1,"nextPageToken":"","more":[1]}`
	lib.answer = func(*library, inquiry) string { return doc }
	_, got := list(w, "alice", proxytest.RPC10, nil)
	if got.OK(t, "list"); got.Docs[0] != doc {
		t.Errorf("got %s", got.Docs[0])
	}
	r := w.Agent.Take()
	if n := len(r); n != 1 || strings.Contains(string(r[0].Content), "page") {
		t.Errorf("the agent was asked %d times: %s", n, r[0].Content)
	}
}

// A caller's few tasks are found behind many of others', as far as the limit goes; the
// page is then short, and its token leads on.
func TestPagesBehindOthers(t *testing.T) {
	t.Parallel()
	for pages, want := range map[int]int{2: 0, 20: 1} {
		w, lib := newLibrary(t, proxytest.REST10, 200, func(s *proxytest.Setup) { s.Server.Limits.ListedPages = pages })
		page, got := list(w, "alice", proxytest.REST10, map[string]any{"pageSize": 1})
		if got.OK(t, "list"); len(page.Tasks) != want || *page.Next == "" || page.Total != 200 {
			t.Errorf("limit %d: %s", pages, got.Docs[0])
		}
		if n := lib.asked.Load(); int(n) > pages {
			t.Errorf("limit %d: the agent was asked %d times", pages, n)
		}
		if ids, _ := walk(w, "alice", proxytest.RPC10, nil, 3, 200); !slices.Equal(ids, lib.want("alice", nil)) {
			t.Errorf("limit %d: %d tasks", pages, len(ids))
		}
	}
}
