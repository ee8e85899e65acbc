package ledger

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// listedIDs is the ids of a caller's tasks, the newest first.
func listedIDs(t testing.TB, l *Ledger, p *authn.Principal, agent, contextID string, limit int) string {
	t.Helper()
	list, err := l.Tasks(t.Context(), p, agent, nil, contextID, limit, nil)
	if err != nil {
		t.Fatalf("Tasks of %s: %v", p, err)
	}
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// A2: a list holds what Owns says is the caller's and nothing else, whatever the
// scope; and all of it.
func TestA02_TasksAreThoseOwned(t *testing.T) {
	t.Parallel()
	everybody := []*authn.Principal{alice, amy, bob, carol, dave, otherAlice}
	for _, scope := range []string{"", "principal", "tenant", "agent", "everybody"} {
		s := newStore(t)
		l := New(s, Config{Scope: scope})
		var made []string
		for round := range 2 {
			for _, p := range everybody {
				id := p.String() + strings.Repeat("'", round)
				made = append(made, id)
				learn(t, l, p, task(id, "C of "+id))
			}
		}
		for _, p := range everybody {
			var want []string
			for _, id := range slices.Backward(made) {
				if owns(t, l, p, id) {
					want = append(want, id)
				}
			}
			var got string
			if work := s.work(func() { got = listedIDs(t, l, p, "billing", "", 99) }); work != 1 {
				t.Errorf("scope %q: a list took %d operations", scope, work)
			}
			if n, most, err := l.Count(t.Context(), p, "billing", ""); n != len(want) || !most || err != nil {
				t.Errorf("scope %q: %s has %d tasks, %v; want %d", scope, p, n, err, len(want))
			}
			if got != strings.Join(want, " ") {
				t.Errorf("scope %q: %s has\n%s, want\n%s", scope, p, got, strings.Join(want, " "))
			}
			if got := listedIDs(t, l, p, "weather", "", 99); got != "" {
				t.Errorf("scope %q: %s has %s on an agent nobody called", scope, p, got)
			}
		}
	}
}

func TestTasksOfAContext(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	for _, id := range []string{"1", "2", "3"} {
		learn(t, l, alice, task(id, "C"))
	}
	learn(t, l, alice, task("4", "D"))
	learn(t, l, alice, task("5", ""))
	for _, tc := range []struct {
		p       *authn.Principal
		context string
		limit   int
		want    string
	}{
		{alice, "", 9, "5 4 3 2 1"},
		{alice, "", 2, "5 4"},
		{alice, "", 0, ""},
		{alice, "C", 9, "3 2 1"},
		{alice, "C", 2, "3 2"},
		{alice, "D", 9, "4"},
		{alice, "E", 9, ""},
		{bob, "", 9, ""},
		{bob, "C", 9, ""},
	} {
		if got := listedIDs(t, l, tc.p, "billing", tc.context, tc.limit); got != tc.want {
			t.Errorf("%s, context %q, at most %d: %q, want %q", tc.p, tc.context, tc.limit, got, tc.want)
		}
	}
}

// leakyStore answers every query with everything.
type leakyStore struct{ state.Ledger }

func (s leakyStore) Tasks(ctx context.Context, q state.Query) ([]state.Record, error) {
	return s.Ledger.Tasks(ctx, state.Query{Agent: q.Agent, Everyone: true, Limit: 99})
}

// A2: a store that reads a query too widely does not show what is somebody else's.
func TestA02_TasksOfALeakyStore(t *testing.T) {
	t.Parallel()
	l := New(leakyStore{newStore(t)}, Config{Scope: "tenant"})
	for _, p := range []*authn.Principal{alice, bob, carol, amy} {
		learn(t, l, p, task(p.Subject, ""))
	}
	for p, want := range map[*authn.Principal]string{alice: "amy alice", carol: "carol", dave: ""} {
		if got := listedIDs(t, l, p, "billing", "", 9); got != want {
			t.Errorf("%s has %q, want %q", p, got, want)
		}
	}
}
