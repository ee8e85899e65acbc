package ledger

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func bind(t testing.TB, l *Ledger, p *authn.Principal, k state.Kind, clientID, agentID string) {
	t.Helper()
	if err := l.Bind(t.Context(), p, "billing", k, clientID, agentID); err != nil {
		t.Fatalf("Bind %q to %q for %s: %v", clientID, agentID, p, err)
	}
}

// stands is what an id stands for, empty for nothing.
func stands(t testing.TB, l *Ledger, p *authn.Principal, agent string, k state.Kind, clientID string) string {
	t.Helper()
	id, ok, err := l.Alias(t.Context(), p, agent, k, clientID)
	if err != nil || ok != (id != "") {
		t.Fatalf("Alias of %q for %s: %q, %v, %v", clientID, p, id, ok, err)
	}
	return id
}

func speaks(t testing.TB, l *Ledger, p *authn.Principal, id string) string {
	t.Helper()
	v, err := l.Speaks(t.Context(), p, "billing", id)
	if err != nil {
		t.Fatalf("Speaks of %q for %s: %v", id, p, err)
	}
	return v
}

func TestBindIsForGood(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	bind(t, l, alice, state.TaskAlias, "1", "T")
	bind(t, l, alice, state.TaskAlias, "1", "T") // the same once more
	err := l.Bind(t.Context(), alice, "billing", state.TaskAlias, "1", "T2")
	if err != ErrBound { // must be the bare value
		t.Errorf("another task under the same name: %v", err)
	}
	bind(t, l, alice, state.ContextAlias, "1", "C") // a kind of its own
	bind(t, l, alice, state.TaskAlias, "2", "T")    // two names for one task
	for name, tc := range map[string]struct {
		agent string
		k     state.Kind
		id    string
		want  string
	}{
		"task":           {"billing", state.TaskAlias, "1", "T"},
		"second name":    {"billing", state.TaskAlias, "2", "T"},
		"context":        {"billing", state.ContextAlias, "1", "C"},
		"unknown":        {"billing", state.TaskAlias, "3", ""},
		"unknown kind":   {"billing", state.ContextAlias, "2", ""},
		"another agent":  {"weather", state.TaskAlias, "1", ""},
		"the agent's id": {"billing", state.TaskAlias, "T", ""},
		"no id":          {"billing", state.TaskAlias, "", ""},
	} {
		if got := stands(t, l, alice, tc.agent, tc.k, tc.id); got != tc.want {
			t.Errorf("%s stands for %q, want %q", name, got, tc.want)
		}
	}
	for _, ids := range [][2]string{{"", "T"}, {"4", ""}} {
		if err := l.Bind(t.Context(), alice, "billing", state.TaskAlias, ids[0], ids[1]); err == nil {
			t.Errorf("%q may stand for %q", ids[0], ids[1])
		}
	}
}

// Names are shared like tasks.
func TestAliasScopes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		scope    string
		owner    *authn.Principal
		may, not []*authn.Principal
	}{
		{"", alice, []*authn.Principal{alice}, []*authn.Principal{amy, bob, carol, otherAlice}},
		{"tenant", alice, []*authn.Principal{alice, amy}, []*authn.Principal{bob, carol, otherAlice}},
		{"tenant", carol, []*authn.Principal{carol}, []*authn.Principal{alice, dave, otherAlice}},
		{"agent", alice, []*authn.Principal{alice, amy, bob, carol, otherAlice}, nil},
	} {
		l := New(newStore(t), Config{Scope: tc.scope})
		bind(t, l, tc.owner, state.TaskAlias, "1", "T")
		for _, p := range tc.may {
			if got := stands(t, l, p, "billing", state.TaskAlias, "1"); got != "T" {
				t.Errorf("scope %q: %s has %q for a name of %s", tc.scope, p, got, tc.owner)
			}
			err := l.Bind(t.Context(), p, "billing", state.TaskAlias, "1", "T2")
			if !errors.Is(err, ErrBound) {
				t.Errorf("scope %q: %s binds a name of %s again: %v", tc.scope, p, tc.owner, err)
			}
		}
		for _, p := range tc.not {
			if got := stands(t, l, p, "billing", state.TaskAlias, "1"); got != "" {
				t.Errorf("scope %q: %s has %q for a name of %s", tc.scope, p, got, tc.owner)
			}
			bind(t, l, p, state.TaskAlias, "1", "T of "+p.String())
		}
	}
}

// A4: no choice of names makes one principal's, tenant's or everyone's name
// another's, also where the prefixes are written into them.
func TestA04_NamesDoNotCollide(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	seen := map[string]string{}
	for _, scope := range []string{"principal", "tenant", "agent"} {
		l := New(s, Config{Scope: scope})
		for _, p := range []*authn.Principal{
			{Issuer: "i", Subject: "a"}, {Issuer: "i", Subject: "a1"}, {Issuer: "i1:a", Subject: ""},
			{Issuer: "i", Subject: "b", Tenant: "1:i1:a"},
			{Issuer: "i", Subject: "c", Tenant: "t"}, {Issuer: "i", Subject: "d", Tenant: "t1"},
		} {
			for _, id := range []string{"x", "1x", ":x", "1:x", "agent:0:x", "tenant:1:tx", "principal:6:1:i1:ax"} {
				key := l.scope.aliasID(asOwner(p), id)
				whose := fmt.Sprint(p.Key(), " ", id)
				if scope == "agent" {
					whose = "everyone " + id
				} else if scope == "tenant" && p.Tenant != "" {
					whose = "tenant " + p.Tenant + " " + id
				}
				if other, taken := seen[key]; taken && other != whose {
					t.Errorf("%q is stored as %q is", whose, other)
				}
				seen[key] = whose
			}
		}
	}
}

// Of many first sends under one id one keeps it, and all later ones find its task.
func TestRaceForANameHasOneWinner(t *testing.T) {
	t.Parallel()
	const callers = 16
	l := New(newStore(t), Config{})
	for round := range 50 {
		errs := make([]error, callers)
		id := fmt.Sprint("id-", round)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range callers {
			wg.Go(func() {
				<-start
				errs[i] = l.Bind(t.Context(), alice, "billing", state.TaskAlias, id, fmt.Sprint("T", i))
			})
		}
		close(start)
		wg.Wait()
		winner := ""
		for i, err := range errs {
			switch {
			case err == nil && winner == "":
				winner = fmt.Sprint("T", i)
			case err == nil:
				t.Fatalf("round %d: %s and T%d have the name", round, winner, i)
			case !errors.Is(err, ErrBound):
				t.Fatalf("a loser got %v", err)
			}
		}
		if got := stands(t, l, alice, "billing", state.TaskAlias, id); got != winner || got == "" {
			t.Fatalf("round %d: the name stands for %q, the winner is %q", round, got, winner)
		}
	}
}

func TestSpeaks(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	bind(t, l, alice, state.TaskAlias, "1", "T")
	learn(t, l, alice, task("T", "C")) // by a caller of 1.0
	old := l.ReserveTask(t.Context(), alice, Origin{Agent: "billing", Skill: "invoices", Version: "0.1"}, "old", "S")
	if err := errors.Join(old, l.ReserveTask(t.Context(), bob, Origin{Agent: "billing", Version: "0.3"}, "made", "S2")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		p        *authn.Principal
		id, want string
	}{
		{alice, "1", "0.1"},
		{alice, "old", "0.1"},
		{alice, "T", ""},
		{alice, "nobody's", ""},
		{alice, "made", ""},
		{bob, "made", ""}, // a 0.3 caller of a 0.1 agent
		{bob, "1", ""},
		{bob, "old", ""},
		{bob, "", ""},
	} {
		if got := speaks(t, l, tc.p, tc.id); got != tc.want {
			t.Errorf("%s names %q: speaks %q, want %q", tc.p, tc.id, got, tc.want)
		}
	}
}

// TestMadeIn: what made a task is told to whom it is, and to nobody else.
func TestMadeIn(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	if err := l.ReserveTask(t.Context(), alice, Origin{Agent: "billing", Version: "1.0 mixed"}, "made", "C"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		p        *authn.Principal
		id, want string
	}{
		{alice, "made", "1.0 mixed"}, {alice, "nobody's", ""}, {alice, "", ""}, {bob, "made", ""},
	} {
		if got, err := l.MadeIn(t.Context(), tc.p, "billing", tc.id); got != tc.want || err != nil {
			t.Errorf("%s of %q: %q, %v", tc.p, tc.id, got, err)
		}
	}
}

// A1: what an id is called by tells nothing about tasks and names of others: the
// answer and the work are those for an id that nobody has.
func TestA01_SpeaksIsNoOracle(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"principal", "tenant"} {
		s := newStore(t)
		l := New(s, Config{Scope: scope})
		bind(t, l, alice, state.TaskAlias, "name", "T")
		if err := l.ReserveTask(t.Context(), alice, Origin{Agent: "billing", Version: "0.1"}, "T", ""); err != nil {
			t.Fatal(err)
		}
		for p, wants := range map[*authn.Principal]string{alice: "0.1", bob: ""} {
			for _, id := range []string{"name", "T", "nobody's"} {
				want := wants
				if id == "nobody's" {
					want = ""
				}
				var got string
				work := s.work(func() { got = speaks(t, l, p, id) })
				if got != want || work != 2 {
					t.Errorf("scope %s: %s names %q: %q after %d lookups, want %q after 2", scope, p, id, got, work, want)
				}
			}
		}
	}
}

// A first send of 0.1 in front of an agent that names tasks itself goes on without
// an id, a later one with the agent's.
func TestOldClientInFrontOfNewAgent(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	first := &wire.Call{Version: wire.V01, Method: method(t, wire.SendMessage)}
	if err := check(t, l, alice, first); err != nil {
		t.Fatalf("a new task: %v", err)
	}
	if err := l.Reserve(t.Context(), alice, Origin{Agent: "billing", Skill: "invoices"}, first); err != nil {
		t.Fatal(err)
	}
	if list, _ := l.Tasks(t.Context(), alice, "billing", nil, "", 9, nil); len(list) != 0 {
		t.Errorf("%d tasks were reserved, want none", len(list))
	}
	learn(t, l, alice, task("T", "C"))
	bind(t, l, alice, state.TaskAlias, "1", "T")
	bind(t, l, alice, state.ContextAlias, "S", "C")
	for name, id := range map[string]string{wire.SendMessage: "1", wire.GetTask: "1"} {
		c := &wire.Call{
			Version: wire.V01, Method: method(t, name),
			TaskID: stands(t, l, alice, "billing", state.TaskAlias, id),
		}
		if c.Method.Subject == wire.OfMessage {
			c.ContextID = stands(t, l, alice, "billing", state.ContextAlias, "S")
		}
		r, err := l.Check(t.Context(), alice, "billing", c)
		if err != nil || r.ID != "T" || r.Skill != "invoices" {
			t.Errorf("%s by the client's id: %+v, %v", name, r, err)
		}
	}
}

// Ids that the gateway makes up for a 0.1 agent become the caller's, or nobody's
// call goes out with them.
func TestReserveTask(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	reserve := func(p *authn.Principal, taskID, contextID string) error {
		return l.ReserveTask(t.Context(), p, Origin{Agent: "billing", Skill: "invoices", Version: "1.0"}, taskID, contextID)
	}
	for range 2 {
		if err := reserve(alice, "T", "C"); err != nil {
			t.Fatal(err)
		}
	}
	if err := reserve(alice, "", "C"); err != nil {
		t.Errorf("no task: %v", err)
	}
	if err := reserve(alice, "T2", ""); err != nil {
		t.Errorf("no context: %v", err)
	}
	r, err := l.Check(t.Context(), alice, "billing", send(t, "T", "C"))
	if err != nil || r.Skill != "invoices" || r.Version != "1.0" || r.Context != "C" {
		t.Errorf("the task made: %+v, %v", r, err)
	}
	if err := reserve(bob, "T", ""); err != ErrAbsent { // bare
		t.Errorf("somebody else's task: %v", err)
	}
	var foreign *ForeignContext
	if err := reserve(bob, "B", "C"); !errors.As(err, &foreign) || foreign.ID != "C" {
		t.Errorf("somebody else's context: %v", err)
	}
}
