package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// Each use of a record, and nothing else, begins its time anew.
func TestRecordsLiveOn(t *testing.T) {
	t.Parallel()
	c := config(everybody(t).address)
	c.Retention = quantity.Duration(time.Hour)
	s, plain, ctx, r := open(t, c), everybody(t).client(t), t.Context(), statetest.Example()
	step := statetest.ExampleStep()
	if _, err := s.Claim(ctx, r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(ctx, step, "", "paid"); err != nil {
		t.Fatal(err)
	}
	record, stands := s.names.record(r.Agent, r.Kind, r.ID), s.names.step(step)
	for name, tc := range map[string]struct {
		key   string
		keeps bool
		do    func() error
	}{
		"Claim":     {record, true, func() error { _, err := s.Claim(ctx, r); return err }},
		"ClaimAll":  {record, true, func() error { _, err := s.ClaimAll(ctx, []state.Record{r}); return err }},
		"Lookup":    {record, true, func() error { _, _, err := s.Lookup(ctx, r.Agent, r.Kind, r.ID); return err }},
		"LookupAll": {record, true, func() error { _, err := s.LookupAll(ctx, r.Agent, []state.Ref{{Kind: r.Kind, ID: r.ID}}); return err }},
		"Tasks": {record, false, func() error {
			_, err := s.Tasks(ctx, state.Query{Agent: r.Agent, Owner: r.Owner, Limit: 9})
			return err
		}},
		"Count":         {record, false, func() error { _, err := s.Count(ctx, state.Query{Agent: r.Agent, Owner: r.Owner}); return err }},
		"a step":        {stands, true, func() error { _, err := s.Advance(ctx, step, "paid", "paid"); return err }},
		"a failed step": {stands, true, func() error { _, err := s.Advance(ctx, step, "", "refused"); return err }},
	} {
		plain.PExpire(ctx, tc.key, time.Minute)
		if err := tc.do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		left := plain.PTTL(ctx, tc.key).Val()
		if kept := left > 59*time.Minute; kept != tc.keeps || left > time.Hour {
			t.Errorf("after %s it lives for %v", name, left)
		}
	}
}

// What is gone goes from the indexes: at once from those that are listed, and at last from
// all, so that nothing of it remains.
func TestIndexesForget(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	const n = 3*look/2 + 1 // more than one part
	var rs []state.Record
	for i := range n {
		r := statetest.Example()
		r.ID, r.Owner, r.Created = fmt.Sprint("task-", i), fmt.Sprint("owner-", i%2), time.Time{}
		rs = append(rs, r)
	}
	if _, err := s.ClaimAll(ctx, rs); err != nil {
		t.Fatal(err)
	}
	for _, r := range rs[1:] {
		plain.Del(ctx, s.names.record(r.Agent, r.Kind, r.ID))
	}
	list, err := s.Tasks(ctx, state.Query{Agent: "billing", Owner: "owner-0", Limit: 9})
	if err != nil || len(list) != 1 || list[0].ID != rs[0].ID {
		t.Errorf("%v are listed, %v", list, err)
	}
	sizes := func() string {
		return fmt.Sprint(plain.ZCard(ctx, s.names.owner("billing", "owner-0")).Val(),
			plain.ZCard(ctx, s.names.owner("billing", "owner-1")).Val(),
			plain.ZCard(ctx, s.names.tenant("billing", "acme")).Val(),
			plain.ZCard(ctx, s.names.everyone("billing")).Val(), plain.ZCard(ctx, s.names.indexes("billing")).Val())
	}
	if got, want := sizes(), fmt.Sprint(1, n/2, n, n, 4); got != want {
		t.Errorf("after a list the indexes have %s, want %s", got, want)
	}
	sweep := func(want string) {
		t.Helper()
		for _, index := range plain.ZRange(ctx, s.names.indexes("billing"), 0, -1).Val() {
			plain.ZIncrBy(ctx, s.names.indexes("billing"), -1e9, index) // make it due
		}
		if err := s.sweepAgents(ctx); err != nil {
			t.Error(err)
		}
		if got := sizes(); got != want {
			t.Errorf("after the sweep the indexes have %s, want %s", got, want)
		}
	}
	sweep("1 0 1 1 3")
	plain.Del(ctx, s.names.record("billing", state.Task, rs[0].ID))
	sweep("0 0 0 0 0")
}

// An id that was forgotten and claimed by somebody else is not listed for the first.
func TestIndexesTellLivesApart(t *testing.T) {
	t.Parallel()
	s, plain, ctx, r := fresh(t), everybody(t).client(t), t.Context(), statetest.Example()
	other := r
	other.Owner, other.Created = "bob", r.Created.Add(time.Hour)
	for _, r := range []state.Record{r, other} {
		plain.Del(ctx, s.names.record(r.Agent, r.Kind, r.ID))
		if _, err := s.Claim(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for owner, want := range map[string]int{r.Owner: 0, "bob": 1} {
		q := state.Query{Agent: r.Agent, Owner: owner, Limit: 9}
		if list, err := s.Tasks(ctx, q); err != nil || len(list) != want {
			t.Errorf("%d tasks are %s's, %v", len(list), owner, err)
		}
	}
	if n, err := s.Count(ctx, state.Query{Agent: r.Agent, Everyone: true}); err != nil || n != 1 {
		t.Errorf("%d tasks are counted, %v", n, err)
	}
}

// The indexes of a space hold no more than the values, and go with the last of them.
func TestSpacesForget(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	for i := range 20 {
		if _, err := s.Add(ctx, "proofs", fmt.Sprint(i), nil, time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the proofs run out", func() bool {
		_, ok, err := s.Get(ctx, "proofs", "19")
		return err == nil && !ok
	})
	for i := range 3 { // each takes some away
		if err := s.Put(ctx, "proofs", fmt.Sprint("new-", i), nil, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	for _, index := range []string{s.names.values("proofs"), s.names.expiring("proofs")} {
		if n := plain.ZCard(ctx, index).Val(); n != 3 {
			t.Errorf("%s has %d, want the 3 that live", index, n)
		}
		if left := plain.PTTL(ctx, index).Val(); left < 50*time.Second || left > 2*time.Minute {
			t.Errorf("%s lives for %v, want a minute", index, left)
		}
	}
	if err := s.Put(ctx, "proofs", "new-0", nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "proofs", "new-1", nil, time.Second); err != nil {
		t.Fatal(err)
	}
	if left := plain.PTTL(ctx, s.names.values("proofs")).Val(); left != -1 {
		t.Errorf("an index with a value for ever lives for %v", left)
	}
}
