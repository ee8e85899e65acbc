package ledger

import (
	"errors"
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestNames: a context that stands in the place of somebody else's has a name for those
// who may see it, whether a call named it or not.
func TestNames(t *testing.T) {
	t.Parallel()
	lend := func(p *authn.Principal, _ string, _ *wire.Method, r state.Record) bool {
		return p == bob && r.Owner == alice.Key()
	}
	for _, tc := range []struct {
		config Config
		may    []*authn.Principal
		not    []*authn.Principal
	}{
		{Config{}, []*authn.Principal{alice}, []*authn.Principal{amy, bob, carol}},
		{Config{Scope: "tenant"}, []*authn.Principal{alice, amy}, []*authn.Principal{bob, carol}},
		{Config{Share: lend}, []*authn.Principal{alice, bob}, []*authn.Principal{amy, carol}},
	} {
		s := newStore(t)
		l := New(s, tc.config)
		from := Origin{Agent: "billing", Version: "1.0", Alias: "alias", Called: "shared"}
		if err := l.Reserve(t.Context(), alice, from, send(t, "", "alias")); err != nil {
			t.Fatal(err)
		}
		learn(t, l, alice, task("T", "alias"))
		learn(t, l, alice, task("T2", "own"))
		shown := []wire.TaskRef{{ID: "T", ContextID: "alias"}, {ID: "T2", ContextID: "own"}, {ID: "none", ContextID: "none"}}
		names := func(p *authn.Principal, shown []wire.TaskRef) []string {
			trips := s.trips
			got, err := l.Names(t.Context(), p, "billing", method(t, wire.GetTask), shown)
			if err != nil || s.trips != trips+1 {
				t.Errorf("scope %q, %s: %v after %d trips", tc.config.Scope, p, err, s.trips-trips)
			}
			return got
		}
		for _, p := range tc.may {
			if got := names(p, shown); !slices.Equal(got, []string{"shared", "", ""}) {
				t.Errorf("scope %q: %s is told %q", tc.config.Scope, p, got)
			}
		}
		for _, p := range tc.not {
			if got := names(p, shown); !slices.Equal(got, []string{"", "", ""}) {
				t.Errorf("scope %q: %s is told %q", tc.config.Scope, p, got)
			}
		}
		// What is lent is the task, not whatever an agent shows in its context.
		if got := names(bob, []wire.TaskRef{{ID: "T2", ContextID: "alias"}, {ContextID: "alias"}}); got[0] != "" || got[1] != "" {
			t.Errorf("bob is told %q", got)
		}
		s.err = state.ErrUnavailable
		if _, err := l.Names(t.Context(), alice, "billing", nil, shown); !errors.Is(err, state.ErrUnavailable) {
			t.Errorf("the store is away: %v", err)
		}
	}
}

// TestNamesOfBefore: a record of before names were kept has none, and stays.
func TestNamesOfBefore(t *testing.T) {
	t.Parallel()
	l := New(newStore(t), Config{})
	learn(t, l, alice, task("T", "alias"))
	from := Origin{Agent: "billing", Version: "1.0", Alias: "alias", Called: "shared"}
	if err := l.Reserve(t.Context(), alice, from, send(t, "T", "alias")); err != nil {
		t.Fatal(err)
	}
	got, err := l.Names(t.Context(), alice, "billing", nil, []wire.TaskRef{{ID: "T", ContextID: "alias"}})
	if err != nil || got[0] != "" {
		t.Errorf("%q, %v", got, err)
	}
	if r, err := l.Check(t.Context(), alice, "billing", send(t, "T", "alias")); err != nil || r.Context != "alias" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCircle: those who share contexts are one, and nobody else is.
func TestCircle(t *testing.T) {
	t.Parallel()
	everyone := []*authn.Principal{alice, amy, bob, carol, dave, otherAlice}
	for scope, want := range map[string]int{"": 6, "tenant": 5} {
		l := New(newStore(t), Config{Scope: scope})
		circles := map[string]bool{}
		for _, p := range everyone {
			circles[l.Circle(p)] = true
		}
		if len(circles) != want {
			t.Errorf("scope %q: %d circles, want %d", scope, len(circles), want)
		}
	}
}
