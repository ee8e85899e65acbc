package ledger

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// versions are those a method exists in, on some binding. HTTP+JSON has a path
// for every operation in 0.3 as well, so only 0.1 leaves some out.
func versions(m *wire.Method) []wire.Version {
	if m.V01 != "" {
		return []wire.Version{wire.V10, wire.V03, wire.V01}
	}
	return []wire.Version{wire.V10, wire.V03}
}

// everyCall makes, for each operation in each version and binding, a call for
// every resource that it can name. It fails the test for an operation about which
// nobody has said what it names.
func everyCall(t *testing.T, taskID, contextID, ref string) map[string]*wire.Call {
	t.Helper()
	calls := map[string]*wire.Call{}
	table := wire.Methods()
	for i := range table {
		m := &table[i]
		for _, v := range versions(m) {
			for _, b := range []wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC} {
				add := func(what string, change func(*wire.Call)) {
					c := &wire.Call{Binding: b, Version: v, Method: m}
					change(c)
					calls[fmt.Sprint(m.Name, " ", v, " ", b, " ", what)] = c
				}
				byTask := func(c *wire.Call) { c.TaskID = taskID }
				byContext := func(c *wire.Call) { c.ContextID = contextID }
				switch m.Subject {
				case wire.OfMessage:
					add("task", byTask)
					add("context", byContext)
					if v != wire.V01 {
						add("reference", func(c *wire.Call) { c.ReferenceTaskIDs = []string{ref} })
					}
				case wire.OfTask, wire.OfConfig:
					add("task", byTask)
				case wire.OfCaller:
					add("context", byContext)
				case wire.OfAgent:
					add("agent", func(*wire.Call) {})
				default:
					t.Fatalf("%s has no ownership decision: subject %d", m.Name, m.Subject)
				}
			}
		}
	}
	return calls
}

// A1: whatever the operation, version and binding, a task of somebody else's is
// refused, with the very error of a task that does not exist and after the same
// work; and the owner passes.
func TestA01_ForeignTasksAreAbsent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{Adopt: true})
	learn(t, l, alice, task("T", "C"))
	absent := everyCall(t, "nobody's", "nobody's", "nobody's")
	for name, foreign := range everyCall(t, "T", "C", "T") {
		if err := check(t, l, alice, foreign); err != nil {
			t.Errorf("%s: the owner is refused: %v", name, err)
		}
		var onForeign, onAbsent error
		workForeign := s.work(func() { onForeign = check(t, l, bob, foreign) })
		workAbsent := s.work(func() { onAbsent = check(t, l, bob, absent[name]) })
		if workForeign != workAbsent {
			t.Errorf("%s: %d store operations for a foreign id, %d for an absent one", name, workForeign, workAbsent)
		}
		named := foreign.TaskID != "" || foreign.ReferenceTaskIDs != nil
		if named && onForeign != ErrAbsent { // must be the bare value, the same for all
			t.Errorf("%s: a foreign task gives %v", name, onForeign)
		}
		chosen := foreign.Version == wire.V01 && foreign.Method.Subject == wire.OfMessage
		switch {
		case named && !chosen && onAbsent != ErrAbsent: // as above
			t.Errorf("%s: an absent task gives %v", name, onAbsent)
		case (!named || chosen) && onAbsent != nil:
			t.Errorf("%s: an id that is free to choose gives %v", name, onAbsent)
		}
	}
}

// A1: one foreign id among own ones is enough, wherever it stands, and those
// after it are looked up all the same.
func TestA01_OneForeignReferenceIsEnough(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{})
	learn(t, l, alice, task("A", "CA"))
	learn(t, l, bob, task("B", "CB"))
	learn(t, l, bob, task("B2", "CB"))
	if err := check(t, l, bob, send(t, "B", "CB", "B2", "B")); err != nil {
		t.Fatalf("own ids: %v", err)
	}
	for _, c := range []*wire.Call{
		send(t, "B", "CB", "A", "B2"), send(t, "B", "CB", "B2", "A"),
		send(t, "B", "CB", "B2", "nobody's"), send(t, "A", "CB", "B", "B2"),
	} {
		var err error
		work := s.work(func() { err = check(t, l, bob, c) })
		if err != ErrAbsent || work != 4 { // must be bare
			t.Errorf("task %s, references %q: %v after %d lookups, want ErrAbsent after 4",
				c.TaskID, c.ReferenceTaskIDs, err, work)
		}
	}
}

// A2: a list shows what is the caller's, hides what is others' or nobody's, and
// being listed makes nothing anybody's.
func TestA02_ListsNeitherLeakNorClaim(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	learn(t, l, alice, task("A", "CA"))
	learn(t, l, bob, task("B", "CB"))
	list := wire.Answer{Kind: "list", Tasks: []wire.TaskRef{{ID: "A"}, {ID: "B"}, {ID: "X"}, {ID: ""}}}
	for range 2 {
		learn(t, l, bob, list)
		owned, err := l.Owns(t.Context(), bob, "billing", method(t, wire.ListTasks), list.Tasks, nil)
		if want := []bool{false, true, false, false}; err != nil || !slices.Equal(owned, want) {
			t.Errorf("bob's list shows %v, %v; want B only", owned, err)
		}
	}
}

// A3: a context of somebody else's is told apart, so that the proxy can put a
// fresh one in its place; the id that the agent would see is the caller's own.
func TestA03_ForeignContextIsReported(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	learn(t, l, alice, task("T", "C"))
	for name, err := range map[string]error{
		"check":   check(t, l, bob, send(t, "", "C")),
		"list":    check(t, l, bob, &wire.Call{Method: method(t, wire.ListTasks), ContextID: "C"}),
		"reserve": l.Reserve(t.Context(), bob, Origin{Agent: "billing"}, send(t, "", "C")),
		"learn":   learned(l.Learn(t.Context(), bob, Origin{Agent: "billing"}, message("C"))),
	} {
		var foreign *ForeignContext
		if !errors.As(err, &foreign) || foreign.ID != "C" || !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v, want a ForeignContext that is an ErrAbsent", name, err)
		}
	}
	if err := check(t, l, alice, send(t, "", "C")); err != nil {
		t.Errorf("the owner's next message: %v", err)
	}
}

// A3: a task and a context must agree with the record; nothing tells which of
// the two was wrong.
func TestA03_TaskAndContextMustAgree(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	learn(t, l, alice, task("A", "CA"))
	learn(t, l, bob, task("B", "CB"))
	learn(t, l, bob, task("B2", "CB2"))
	learn(t, l, bob, task("B3", "")) // the agent never said
	for _, tc := range []struct {
		task, context string
		ok            bool
	}{
		{"B", "CB", true},
		{"B", "", true},
		{"B3", "CB", true},
		{"B", "CB2", false}, // both bob's, but not of each other
		{"B", "CA", false},
		{"B", "nobody's", false},
		{"B3", "CA", false}, // cannot be replaced by a fresh one
		{"A", "CB", false},
		{"A", "CA", false},
		{"nobody's", "CB", false},
	} {
		err := check(t, l, bob, send(t, tc.task, tc.context))
		if tc.ok && err != nil {
			t.Errorf("%s in %s: %v", tc.task, tc.context, err)
		}
		if !tc.ok && err != ErrAbsent { // must be bare
			t.Errorf("%s in %s: %v, want ErrAbsent", tc.task, tc.context, err)
		}
	}
}

// A3: of many callers who bring the same unowned context at the same moment, one
// reaches the agent with it.
func TestA03_RaceForAContextHasOneWinner(t *testing.T) {
	t.Parallel()
	const callers = 16
	l := New(newStore(t), Config{Adopt: true})
	for round := range 50 {
		c := send(t, "", fmt.Sprint("C", round))
		errs := make([]error, callers)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range callers {
			wg.Go(func() {
				p := &authn.Principal{Issuer: "https://issuer", Subject: fmt.Sprint("caller-", i)}
				<-start
				if _, errs[i] = l.Check(t.Context(), p, "billing", c); errs[i] == nil {
					errs[i] = l.Reserve(t.Context(), p, Origin{Agent: "billing"}, c)
				}
			})
		}
		close(start)
		wg.Wait()
		winners := 0
		for _, err := range errs {
			var foreign *ForeignContext
			switch {
			case err == nil:
				winners++
			case !errors.As(err, &foreign):
				t.Fatalf("a loser got %v", err)
			}
		}
		if winners != 1 {
			t.Fatalf("round %d: %d callers reached the agent", round, winners)
		}
	}
}

// A3: a 0.1 caller who loses the context does not get its task into it, and may go on
// with that task in another.
func TestA03_LostContextLeavesTheTaskFree(t *testing.T) {
	t.Parallel()
	stores := map[string]state.Ledger{"here": newStore(t).Ledger, "elsewhere": newStore(t)}
	for name, store := range stores {
		l := New(store, Config{Adopt: true})
		c := &wire.Call{Version: wire.V01, Method: send(t, "", "").Method, TaskID: "T", ContextID: "C"}
		if err := l.Reserve(t.Context(), bob, Origin{Agent: "billing"}, send(t, "", "C")); err != nil {
			t.Fatal(err)
		}
		var foreign *ForeignContext
		if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing"}, c); !errors.As(err, &foreign) {
			t.Errorf("%s: %v, want a ForeignContext", name, err)
		}
		c.ContextID = "another"
		if _, err := l.Check(t.Context(), alice, "billing", c); err != nil {
			t.Errorf("%s: the task in another context: %v", name, err)
		}
		if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing"}, c); err != nil {
			t.Errorf("%s: the task in another context: %v", name, err)
		}
	}
}

// A4: the same ids on two agents are two tasks; on one agent the second caller
// gets nothing of the first one's task.
func TestA04_CollidingIDs(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	learn(t, l, alice, task("T", "C"))
	err := learned(l.Learn(t.Context(), bob, Origin{Agent: "weather"}, task("T", "C")))
	if err != nil {
		t.Fatalf("the same ids on another agent: %v", err)
	}
	for _, tc := range []struct {
		p     *authn.Principal
		agent string
		ok    bool
	}{{alice, "billing", true}, {bob, "weather", true}, {alice, "weather", false}, {bob, "billing", false}} {
		_, err := l.Check(t.Context(), tc.p, tc.agent, send(t, "T", "C"))
		if (err == nil) != tc.ok {
			t.Errorf("%s on %s: %v", tc.p, tc.agent, err)
		}
	}
	for name, a := range map[string]wire.Answer{
		"alone":       task("T", ""),
		"with a free": {Tasks: []wire.TaskRef{{ID: "new"}, {ID: "T"}}},
		"as an event": {Kind: "artifactUpdate", Tasks: []wire.TaskRef{{ID: "T", ContextID: "C"}}},
	} {
		err := learned(l.Learn(t.Context(), bob, Origin{Agent: "billing"}, a))
		if err != ErrAbsent { // must be bare
			t.Errorf("%s: bob is shown alice's task: %v", name, err)
		}
	}
	if err := check(t, l, alice, send(t, "T", "C")); err != nil {
		t.Errorf("alice lost her task: %v", err)
	}
}

// 0.1 lets the client choose the id of a new task. It becomes the caller's before
// the agent sees it; one that is taken is refused, in 0.1 and later versions.
func TestA01_ClientChosenTaskIDs(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{Adopt: true})
	old := func(name, id, session string) *wire.Call {
		return &wire.Call{Version: wire.V01, Method: method(t, name), TaskID: id, ContextID: session}
	}
	first := old(wire.SendMessage, "mine", "S")
	if err := check(t, l, alice, first); err != nil {
		t.Fatalf("a task to be made: %v", err)
	}
	if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing", Skill: "invoices"}, first); err != nil {
		t.Fatalf("Reserve: %v", err)
	}
	err := l.Reserve(t.Context(), bob, Origin{Agent: "billing"}, old(wire.SendMessage, "mine", ""))
	if err != ErrAbsent { // bare
		t.Errorf("bob was late and reserves it as well: %v", err)
	}
	learn(t, l, alice, task("mine", "S"))
	for name, c := range map[string]*wire.Call{
		"send": old(wire.SendMessage, "mine", ""), "stream": old(wire.SendStreamingMessage, "mine", ""),
		"get": old(wire.GetTask, "mine", ""), "1.0": send(t, "mine", ""),
	} {
		if err := check(t, l, alice, c); err != nil {
			t.Errorf("%s by the owner: %v", name, err)
		}
		if err := check(t, l, bob, c); err != ErrAbsent { // bare
			t.Errorf("%s by somebody else: %v", name, err)
		}
	}
	if err := check(t, l, alice, old(wire.GetTask, "unmade", "")); err != ErrAbsent { // bare
		t.Errorf("getting a task that was never made: %v", err)
	}
	var foreign *ForeignContext
	if err := check(t, l, bob, old(wire.SendMessage, "new", "S")); !errors.As(err, &foreign) {
		t.Errorf("a new task in somebody else's session: %v", err)
	}
}

// A12: the skill that a task was started for is what later calls on it are judged
// by, and nothing later changes it.
func TestA12_TheTasksSkillIsTheFirst(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	learn(t, l, alice, task("T", "C"))
	if err := learned(l.Learn(t.Context(), alice, Origin{Agent: "billing", Skill: "refunds"}, task("T", "C"))); err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(t.Context(), alice, "billing", send(t, "T", "C"))
	if err != nil || r.Skill != "invoices" {
		t.Errorf("the task is for %q, %v; want invoices", r.Skill, err)
	}
}
