package ledger

import (
	stdcmp "cmp"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var (
	alice = &authn.Principal{Subject: "alice", Issuer: "https://issuer", Tenant: "acme"}
	amy   = &authn.Principal{Subject: "amy", Issuer: "https://issuer", Tenant: "acme"}
	bob   = &authn.Principal{Subject: "bob", Issuer: "https://issuer", Tenant: "umbrella"}
	// carol and dave have no tenant, which is not one that they share.
	carol = &authn.Principal{Subject: "carol", Issuer: "https://issuer"}
	dave  = &authn.Principal{Subject: "dave", Issuer: "https://issuer"}
	// otherAlice has alice's subject at another issuer.
	otherAlice = &authn.Principal{Subject: "alice", Issuer: "https://other"}
)

// store counts what reaches a memory driver and can be broken.
type store struct {
	state.Ledger
	mu              sync.Mutex
	lookups, claims int // ids
	lists           int
	trips           int // to the store, whatever they are for
	err             error
}

func newStore(t testing.TB) *store {
	t.Helper()
	m := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = m.Close() })
	return &store{Ledger: m}
}

// visit counts one trip, and fails it where the store is broken.
func (s *store) visit(ids int, of *int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	*of += ids
	s.trips++
	return s.err
}

func (s *store) Lookup(
	ctx context.Context, agent string, k state.Kind, id string,
) (state.Record, bool, error) {
	if err := s.visit(1, &s.lookups); err != nil {
		return state.Record{}, false, err
	}
	return s.Ledger.Lookup(ctx, agent, k, id)
}

func (s *store) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	if err := s.visit(len(refs), &s.lookups); err != nil {
		return nil, err
	}
	return s.Ledger.LookupAll(ctx, agent, refs)
}

func (s *store) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	if err := stdcmp.Or(s.visit(1, &s.claims), ctx.Err()); err != nil { // as a driver that honours contexts would
		return state.Record{}, err
	}
	return s.Ledger.Claim(ctx, r)
}

func (s *store) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	if err := stdcmp.Or(s.visit(len(rs), &s.claims), ctx.Err()); err != nil {
		return nil, err
	}
	return s.Ledger.ClaimAll(ctx, rs)
}

func (s *store) Tasks(ctx context.Context, q state.Query) ([]state.Record, error) {
	if err := s.visit(1, &s.lists); err != nil {
		return nil, err
	}
	return s.Ledger.Tasks(ctx, q)
}

func (s *store) Count(ctx context.Context, q state.Query) (int, error) {
	if err := s.visit(1, &s.lists); err != nil {
		return 0, err
	}
	return s.Ledger.Count(ctx, q)
}

// work is what one call asked of the store.
func (s *store) work(call func()) int {
	s.mu.Lock()
	before := s.lookups + s.claims + s.lists
	s.mu.Unlock()
	call()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookups + s.claims + s.lists - before
}

func method(t testing.TB, name string) *wire.Method {
	t.Helper()
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	return m
}

// send is a SendMessage of 1.0.
func send(t testing.TB, taskID, contextID string, refs ...string) *wire.Call {
	t.Helper()
	return &wire.Call{
		Version: wire.V10, Method: method(t, wire.SendMessage),
		TaskID: taskID, ContextID: contextID, ReferenceTaskIDs: refs,
	}
}

// task is an answer that shows one task.
func task(id, contextID string) wire.Answer {
	return wire.Answer{Kind: "task", Tasks: []wire.TaskRef{{ID: id, ContextID: contextID}}, ContextID: contextID}
}

// message is an answer that is a message in a context.
func message(contextID string) wire.Answer {
	return wire.Answer{Kind: "message", ContextID: contextID}
}

func learn(t testing.TB, l *Ledger, p *authn.Principal, a wire.Answer) {
	t.Helper()
	if err := learned(l.Learn(t.Context(), p, Origin{Agent: "billing", Skill: "invoices", Endpoint: "http://e1", Version: "1.0"}, a)); err != nil {
		t.Fatalf("Learn for %s: %v", p, err)
	}
}

func owns(t testing.TB, l *Ledger, p *authn.Principal, id string) bool {
	t.Helper()
	m := method(t, wire.ListTasks)
	is, err := l.Owns(t.Context(), p, "billing", m, []wire.TaskRef{{ID: id}, {}}, nil)
	if err != nil || len(is) != 2 || is[1] {
		t.Fatalf("Owns of %q for %s: %v, %v", id, p, is, err)
	}
	return is[0]
}

func check(t testing.TB, l *Ledger, p *authn.Principal, c *wire.Call) error {
	t.Helper()
	_, err := l.Check(t.Context(), p, "billing", c)
	return err
}

func TestCheckReturnsTheRecord(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	exts := []string{"https://example.com/ext/v1"}
	for _, from := range []Origin{
		{Agent: "billing", Skill: "invoices", Endpoint: "http://e1", Version: "0.3", Extensions: exts, Trace: "first"},
		{Agent: "billing", Skill: "others", Trace: "second"},
	} {
		first, err := l.Learn(t.Context(), alice, from, task("T", "C"))
		if err != nil || first.ID != "T" || first.Trace != "first" {
			t.Fatalf("from %s the record is %+v, %v", from.Trace, first, err)
		}
	}
	if first, err := l.Learn(t.Context(), alice, Origin{Agent: "billing"}, message("C")); err != nil || first.Kind != 0 {
		t.Fatalf("from a message the record is %+v, %v", first, err)
	}
	want := state.Record{
		Agent: "billing", Kind: state.Task, ID: "T", Owner: alice.Key(), Tenant: "acme",
		Skill: "invoices", Context: "C", Endpoint: "http://e1", Version: "0.3", Extensions: exts, Trace: "first",
	}
	for _, c := range []*wire.Call{
		send(t, "T", ""), send(t, "T", "C"), send(t, "T", "C", "T"),
		{Version: wire.V03, Method: method(t, wire.GetTask), TaskID: "T"},
		{Version: wire.V10, Method: method(t, "GetTaskPushNotificationConfig"), TaskID: "T", ConfigID: "x"},
	} {
		got, err := l.Check(t.Context(), alice, "billing", c)
		if err != nil {
			t.Fatalf("%s: %v", c.Method.Name, err)
		}
		if got.Created.IsZero() {
			t.Error("the record has no time")
		}
		got.Created = want.Created
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Method.Name, diff)
		}
	}
	got, err := l.Check(t.Context(), alice, "billing", send(t, "", "C"))
	if diff := cmp.Diff(state.Record{Endpoint: "http://e1"}, got); err != nil || diff != "" {
		t.Errorf("a call without a task has %v and a record (-want +got):\n%s", err, diff)
	}
	if got, _ := l.Check(t.Context(), bob, "billing", send(t, "", "C")); got.Endpoint != "" {
		t.Error("somebody else learns where a context is")
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		scope string
		owner *authn.Principal
		may   []*authn.Principal
		not   []*authn.Principal
	}{
		{"", alice, []*authn.Principal{alice}, []*authn.Principal{amy, bob, carol, otherAlice}},
		{"principal", alice, []*authn.Principal{alice}, []*authn.Principal{amy, bob, carol, otherAlice}},
		{"tenant", alice, []*authn.Principal{alice, amy}, []*authn.Principal{bob, carol, otherAlice}},
		{"tenant", carol, []*authn.Principal{carol}, []*authn.Principal{alice, dave, otherAlice}},
		{"agent", alice, []*authn.Principal{alice, amy, bob, carol, otherAlice}, nil},
		{"everybody", alice, []*authn.Principal{alice}, []*authn.Principal{amy, bob}},
	} {
		l := New(newStore(t), Config{Scope: tc.scope})
		learn(t, l, tc.owner, task("T", "C"))
		for _, p := range tc.may {
			if err := check(t, l, p, send(t, "T", "C", "T")); err != nil {
				t.Errorf("scope %q: %s may not use a task of %s: %v", tc.scope, p, tc.owner, err)
			}
			if err := l.Reserve(t.Context(), p, Origin{Agent: "billing"}, send(t, "T", "C")); err != nil {
				t.Errorf("scope %q: %s may not reserve: %v", tc.scope, p, err)
			}
			learn(t, l, p, task("T", "C"))
		}
		for _, p := range tc.not {
			if err := check(t, l, p, send(t, "T", "C", "T")); !errors.Is(err, ErrAbsent) {
				t.Errorf("scope %q: %s uses a task of %s: %v", tc.scope, p, tc.owner, err)
			}
		}
		if err := check(t, l, tc.owner, send(t, "T2", "")); err != ErrAbsent { // must be bare
			t.Errorf("scope %q: a task that nobody knows: %v", tc.scope, err)
		}
	}
}

// While the store cannot be asked, nobody owns anything, and the error is not
// taken for an absent task.
func TestStoreErrorsFailClosed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{Scope: "agent"})
	learn(t, l, alice, task("T", "C"))
	broken := errors.New("disk on fire")
	s.err = broken
	list := &wire.Call{Version: wire.V10, Method: method(t, wire.ListTasks), ContextID: "C"}
	get := &wire.Call{Version: wire.V10, Method: method(t, wire.GetTask), TaskID: "T"}
	for name, err := range map[string]error{
		"task":      check(t, l, alice, send(t, "T", "")),
		"context":   check(t, l, alice, send(t, "", "C")),
		"reference": check(t, l, alice, send(t, "", "", "T")),
		"get":       check(t, l, alice, get),
		"list":      check(t, l, alice, list),
		"reserve":   l.Reserve(t.Context(), alice, Origin{Agent: "billing"}, send(t, "", "C")),
		"learn":     learned(l.Learn(t.Context(), alice, Origin{Agent: "billing"}, task("T", "C"))),
		"message":   learned(l.Learn(t.Context(), alice, Origin{Agent: "billing"}, message("C"))),
	} {
		if !errors.Is(err, broken) || errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v, want the store's error", name, err)
		}
	}
	refs := []wire.TaskRef{{ID: "T"}, {ID: "U"}}
	for n := range refs {
		if ok, err := l.Owns(t.Context(), alice, "billing", list.Method, refs[n:], nil); ok != nil || !errors.Is(err, broken) {
			t.Errorf("Owns: %v, %v", ok, err)
		}
	}
	if n, most, err := l.Count(t.Context(), alice, "billing", ""); n != 0 || most || !errors.Is(err, broken) {
		t.Errorf("Count: %v, %v", n, err)
	}
	if list, err := l.Tasks(t.Context(), alice, "billing", nil, "", 9, nil); list != nil || !errors.Is(err, broken) {
		t.Errorf("Tasks: %v, %v", list, err)
	}
	if id, ok, err := l.Alias(t.Context(), alice, "billing", state.TaskAlias, "x"); ok || id != "" || !errors.Is(err, broken) {
		t.Errorf("Alias: %q, %v, %v", id, ok, err)
	}
	err := l.Bind(t.Context(), alice, "billing", state.TaskAlias, "x", "T")
	if !errors.Is(err, broken) || errors.Is(err, ErrBound) {
		t.Errorf("Bind: %v", err)
	}
	if v, err := l.Speaks(t.Context(), alice, "billing", "T"); v != "" || !errors.Is(err, broken) {
		t.Errorf("Speaks: %q, %v", v, err)
	}
}

func TestFullStoreRefuses(t *testing.T) {
	t.Parallel()
	m := state.NewMemory(state.Config{Memory: state.MemoryConfig{Records: 1}})
	t.Cleanup(func() { _ = m.Close() })
	l := New(m, Config{})
	learn(t, l, alice, message("C"))
	if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing", Skill: "invoices"}, send(t, "", "C")); err != nil {
		t.Errorf("a known context: %v", err)
	}
	if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing"}, send(t, "", "C2")); !errors.Is(err, state.ErrFull) {
		t.Errorf("a new context: %v, want ErrFull", err)
	}
	err := learned(l.Learn(t.Context(), alice, Origin{Agent: "billing"}, task("T", "C")))
	if !errors.Is(err, state.ErrFull) || errors.Is(err, ErrAbsent) {
		t.Errorf("a new task: %v, want ErrFull", err)
	}
	err = l.Bind(t.Context(), alice, "billing", state.ContextAlias, "mine", "C")
	if !errors.Is(err, state.ErrFull) || errors.Is(err, ErrBound) {
		t.Errorf("a new name: %v, want ErrFull", err)
	}
}

// What an agent made is recorded even if the caller hung up meanwhile.
func TestLearnOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := learned(l.Learn(ctx, alice, Origin{Agent: "billing"}, task("T", "C"))); err != nil {
		t.Fatal(err)
	}
	if err := check(t, l, alice, send(t, "T", "C")); err != nil {
		t.Errorf("the task is not recorded: %v", err)
	}
	if err := l.Bind(ctx, alice, "billing", state.TaskAlias, "mine", "T"); err != nil {
		t.Fatal(err)
	}
	if id, _, _ := l.Alias(t.Context(), alice, "billing", state.TaskAlias, "mine"); id != "T" {
		t.Errorf("the name stands for %q", id)
	}
}

// A refused caller leaves nothing behind: Check does not write.
func TestCheckWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{})
	for _, c := range everyCall(t, "T", "C", "R") {
		_ = check(t, l, bob, c)
	}
	if s.claims != 0 {
		t.Errorf("%d claims", s.claims)
	}
	if s.lookups == 0 {
		t.Error("nothing was looked up")
	}
}

func TestLearnShapes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in              wire.Answer
		tasks, contexts []string
	}{
		"nothing":              {},
		"error":                {in: wire.Answer{Error: -32001}},
		"message":              {in: message("C"), contexts: []string{"C"}},
		"task":                 {in: task("T", "C"), tasks: []string{"T"}, contexts: []string{"C"}},
		"task without context": {in: task("T", ""), tasks: []string{"T"}},
		"event": {
			in:       wire.Answer{Kind: "statusUpdate", Tasks: []wire.TaskRef{{ID: "T"}}, ContextID: "C"},
			tasks:    []string{"T"},
			contexts: []string{"C"},
		},
		"context without a task": {in: task("", "C"), contexts: []string{"C"}},
		"several": {
			in: wire.Answer{Tasks: []wire.TaskRef{
				{ID: "T", ContextID: "C"}, {ID: "T2", ContextID: "C"}, {ID: "T3", ContextID: "C2"}, {ID: "T4"},
			}},
			tasks: []string{"T", "T2", "T3", "T4"}, contexts: []string{"C", "C2"},
		},
		"list": {in: wire.Answer{Kind: "list", Tasks: []wire.TaskRef{{ID: "T", ContextID: "C"}}, ContextID: "C"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := New(newStore(t), Config{Adopt: true})
			learn(t, l, alice, tc.in)
			for _, id := range []string{"T", "T2", "T3", "T4"} {
				owned := owns(t, l, alice, id)
				if want := contains(tc.tasks, id); owned != want {
					t.Errorf("task %s: owned %v; want %v", id, owned, want)
				}
			}
			for _, id := range []string{"C", "C2"} {
				foreign := check(t, l, bob, send(t, "", id)) != nil
				if want := contains(tc.contexts, id); foreign != want {
					t.Errorf("context %s: recorded %v, want %v", id, foreign, want)
				}
			}
		})
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// A method whose subject this package does not know is refused, not waved through.
func TestUnknownSubjectFailsClosed(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{Scope: "agent"})
	for _, subject := range []wire.Subject{0, 99} {
		c := &wire.Call{Method: &wire.Method{Name: "x", Subject: subject}, TaskID: "T"}
		if err := check(t, l, alice, c); err == nil || errors.Is(err, ErrAbsent) {
			t.Errorf("subject %d: %v", subject, err)
		}
	}
}

// learned is what Learn makes of an answer, where what it returns does not matter.
func learned(_ state.Record, err error) error { return err }

// TestReserved: a context that the call has just reserved is not asked for again in this
// process; everything else is.
func TestReserved(t *testing.T) {
	t.Parallel()
	near := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = near.Close() })
	for name, c := range map[string]struct {
		store  state.Ledger
		answer wire.Answer
		want   []state.Ref // that are recorded by Learn
	}{
		"message":           {near, wire.Answer{Kind: "message", ContextID: "near"}, nil},
		"another's message": {near, wire.Answer{Kind: "message", ContextID: "other"}, []state.Ref{{Kind: state.Context, ID: "other"}}},
		"task":              {near, task("T", "near"), []state.Ref{{Kind: state.Task, ID: "T"}}},
		"message, far":      {newStore(t), wire.Answer{Kind: "message", ContextID: "near"}, []state.Ref{{Kind: state.Context, ID: "near"}}},
	} {
		o := Origin{Agent: name, Reserved: "near"}
		if err := learned(New(c.store, Config{}).Learn(t.Context(), alice, o, c.answer)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, ref := range c.want {
			if _, ok, _ := c.store.Lookup(t.Context(), name, ref.Kind, ref.ID); !ok {
				t.Errorf("%s: %v is not recorded", name, ref)
			}
		}
		if _, ok, _ := c.store.Lookup(t.Context(), name, state.Context, "near"); ok && c.store == near {
			t.Errorf("%s: the context was asked for", name)
		}
	}
}

// An agent may show a task in another context than at first. That context becomes the
// caller's too, unless it is somebody else's; the task stays where its record says.
func TestTaskInAnotherContext(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]state.Ledger{"near": newStore(t).Ledger, "far": newStore(t)} {
		l := New(s, Config{})
		learn(t, l, alice, task("T", "C"))
		learn(t, l, bob, message("CB"))
		learn(t, l, alice, task("T", "D"))
		if err := check(t, l, alice, send(t, "", "D")); err != nil {
			t.Errorf("%s: alice in the new context: %v", name, err)
		}
		var foreign *ForeignContext
		if err := check(t, l, bob, send(t, "", "D")); !errors.As(err, &foreign) {
			t.Errorf("%s: bob in the new context: %v", name, err)
		}
		if err := learned(l.Learn(t.Context(), alice, Origin{Agent: "billing"}, task("T", "CB"))); !errors.As(err, &foreign) {
			t.Errorf("%s: alice's task in a context of bob's: %v", name, err)
		}
		for _, c := range []*wire.Call{send(t, "T", ""), send(t, "T", "C")} {
			if err := check(t, l, alice, c); err != nil {
				t.Errorf("%s: the task in %q: %v", name, c.ContextID, err)
			}
		}
		if err := check(t, l, alice, send(t, "T", "D")); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: the task with a context that its record does not have: %v", name, err)
		}
	}
}
