package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// noting is a store that notes what was recorded in it and what was asked for since.
type noting struct {
	state.Ledger
	mu              sync.Mutex
	recorded, asked map[string]bool
}

func newNoting(t *testing.T) *noting {
	t.Helper()
	return &noting{Ledger: newStore(t), recorded: map[string]bool{}, asked: map[string]bool{}}
}

func (n *noting) note(in map[string]bool, agent string, k state.Kind, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	in[fmt.Sprint(agent, " ", k, " ", id)] = true
}

func (n *noting) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	n.note(n.recorded, r.Agent, r.Kind, r.ID)
	return n.Ledger.Claim(ctx, r)
}

func (n *noting) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	for _, r := range rs {
		n.note(n.recorded, r.Agent, r.Kind, r.ID)
	}
	return n.Ledger.ClaimAll(ctx, rs)
}

func (n *noting) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	for _, r := range refs {
		n.note(n.asked, agent, r.Kind, r.ID)
	}
	return n.Ledger.LookupAll(ctx, agent, refs)
}

// TestRenew: whatever is recorded of a task, its context and what they are called and used for
// is asked for again, where it is recorded.
func TestRenew(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"principal", "tenant", "agent"} {
		n := newNoting(t)
		l := New(n, Config{Scope: scope, Backend: shared})
		for _, skill := range []string{"invoices", "refunds"} {
			o := Origin{Agent: "billing", Skill: skill, Version: "0.1"}
			if _, err := l.Learn(t.Context(), alice, o, task("T", "C")); err != nil {
				t.Fatal(err)
			}
		}
		bind(t, l, alice, state.TaskAlias, "mine", "T")
		bind(t, l, alice, state.ContextAlias, "S", "C")
		bind(t, l, alice, state.ContextName, "C", "S")
		clear(n.asked)
		err := l.Renew(t.Context(), alice, &Uses{
			Agent: "billing", Skill: "refunds", Tasks: []string{"T"}, Contexts: []string{"C"},
			TaskNames: []string{"mine"}, ContextNames: []string{"S"},
		})
		if err != nil || len(n.recorded) != 6 {
			t.Errorf("scope %s: %v, %d records", scope, err, len(n.recorded))
		}
		for name := range n.recorded {
			if !n.asked[name] {
				t.Errorf("scope %s: %q runs out", scope, name)
			}
		}
	}
}

// TestRenewFails: a store that is away is told of, and nothing is asked where nothing is used.
func TestRenewFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := New(s, Config{})
	if err := l.Renew(t.Context(), alice, &Uses{Agent: "billing", Skill: "invoices"}); err != nil || s.trips != 0 {
		t.Errorf("%v after %d trips", err, s.trips)
	}
	s.err = state.ErrUnavailable
	if err := l.Renew(t.Context(), alice, &Uses{Agent: "billing", Tasks: []string{"T"}}); !errors.Is(err, state.ErrUnavailable) {
		t.Error(err)
	}
}
