package sqlite

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// clock is set by tests.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time       { return time.Unix(0, c.ns.Load()) }
func (c *clock) pass(d time.Duration) { c.ns.Add(int64(d)) }

func kept(t *testing.T, retention time.Duration) (*Store, *clock) {
	t.Helper()
	at := &clock{}
	at.ns.Store(time.Now().UnixNano())
	c := config(filepath.Join(t.TempDir(), "state.db"))
	c.Retention = quantity.Duration(retention)
	return reopen(t, c, at.now), at
}

// What is used lives on, whether that was written down yet or not; what is not is gone
// at once when its time has come, and may be claimed by anybody.
func TestRetention(t *testing.T) {
	t.Parallel()
	s, at := kept(t, 48*time.Hour)
	used, written, idle := record(0), record(1), record(2)
	if _, err := s.ClaimAll(t.Context(), []state.Record{used, written, idle}); err != nil {
		t.Fatal(err)
	}
	steps := []state.Step{{Task: "used"}, {Task: "idle"}}
	for _, st := range steps {
		if _, err := s.Advance(t.Context(), st, "", "paid"); err != nil {
			t.Fatal(err)
		}
	}
	at.pass(47 * time.Hour)
	found(t, s, used, true)
	found(t, s, written, true)
	stands(t, s, steps[0], "paid")
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	at.pass(47 * time.Hour)
	found(t, s, used, true)
	stands(t, s, steps[0], "paid")
	at.pass(2*time.Hour + 5*time.Second) // 96 h after the claims, 49 h after the use that was written
	found(t, s, used, true)              // as it is noted, though not yet written
	found(t, s, written, false)
	found(t, s, idle, false)
	stands(t, s, steps[0], "paid")
	stands(t, s, steps[1], "")
	q := state.Query{Agent: used.Agent, Everyone: true, Limit: 9}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Tasks(t.Context(), q); err != nil || len(list) != 1 || list[0].ID != used.ID {
		t.Errorf("listed: %+v, %v", list, err)
	}
	if n, err := s.Count(t.Context(), q); err != nil || n != 1 {
		t.Errorf("counted: %d, %v", n, err)
	}
	idle.Owner = "bob"
	if got, err := s.Claim(t.Context(), idle); err != nil || got.Owner != "bob" {
		t.Errorf("claiming what ran out: %q, %v", got.Owner, err)
	}
	found(t, s, idle, true)
}

// The sweeper removes all that ran out, however much it is, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	const n = 3*batch + 7
	s, at := kept(t, time.Hour)
	var rs []state.Record
	for i := range n {
		rs = append(rs, record(i))
	}
	if _, err := s.ClaimAll(t.Context(), rs); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(t.Context(), state.Step{Task: "a"}, "", "paid"); err != nil {
		t.Fatal(err)
	}
	for key, ttl := range map[string]time.Duration{"short": time.Minute, "long": 1000 * time.Hour, "ever": 0} {
		if err := s.Put(t.Context(), "s", key, nil, ttl); err != nil {
			t.Fatal(err)
		}
	}
	at.pass(59 * time.Minute)
	found(t, s, rs[5], true)
	for _, tc := range []struct {
		pass    time.Duration
		records int
		steps   int
		values  int
	}{{0, n, 1, 2}, {time.Hour, 1, 0, 2}, {2 * time.Hour, 0, 0, 2}, {1000 * time.Hour, 0, 0, 1}} {
		at.pass(tc.pass)
		if err := s.sweep(); err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int{"records": tc.records, "steps": tc.steps, "entries": tc.values} {
			got := -1
			if err := s.readers.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&got); err != nil || got != want {
				t.Errorf("after %v there are %d of %s, %v; want %d", tc.pass, got, table, err, want)
			}
		}
	}
}

// Uses above the bound are not noted, rather than kept without end.
func TestUsesAreBounded(t *testing.T) {
	t.Parallel()
	u := newUses(time.Hour)
	for i := range mostUses + 10 {
		u.note(use{id: record(i).ID}, 1)
	}
	u.note(use{id: record(0).ID}, 2)
	all := u.all()
	if len(all) != mostUses || all[use{id: record(0).ID}] != 2 {
		t.Errorf("%d are noted, the first at %d", len(all), all[use{id: record(0).ID}])
	}
	u.note(use{id: record(1).ID}, 3)
	u.written(all)
	if rest := u.all(); len(rest) != 1 || rest[use{id: record(1).ID}] != 3 {
		t.Errorf("after all were written %d are noted", len(rest))
	}
}

func found(t *testing.T, s *Store, r state.Record, want bool) {
	t.Helper()
	if _, ok, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID); ok != want || err != nil {
		t.Errorf("%s is found: %v, %v; want %v", r.ID, ok, err, want)
	}
}

func stands(t *testing.T, s *Store, st state.Step, want string) {
	t.Helper()
	if got, err := s.Advance(t.Context(), st, "", ""); got != want || err != nil {
		t.Errorf("%s stands at %q, %v; want %q", st.Task, got, err, want)
	}
}
