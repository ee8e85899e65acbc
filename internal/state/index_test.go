package state

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// Tasks come, are used or not and run out, while the clock is sometimes set back.
// Lists show what lives, in order, and the index holds what the store holds.
func TestIndexFollowsTheStore(t *testing.T) {
	testenv.Long(t, "tens of thousands of changes are made")
	t.Parallel()
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			m := NewMemory(Config{Retention: quantity.Duration(time.Hour)})
			if err := m.Close(); err != nil { // sweeps come when this test says so
				t.Fatal(err)
			}
			m.records.index("a").stretch = 1 + random.IntN(3)
			living := map[string]Record{}
			used := map[string]time.Time{}
			for step := range 300 {
				r := Record{
					Agent: "a", Kind: Task, ID: fmt.Sprint(random.IntN(100)),
					Owner: fmt.Sprint("o", random.IntN(5)), Tenant: strings.Repeat("t", random.IntN(3)),
				}
				switch random.IntN(6) {
				case 0:
					time.Sleep(time.Duration(random.IntN(1200)) * time.Second)
				case 1:
					for i := range m.records.shards {
						m.records.sweepShard(&m.records.shards[i], time.Now())
					}
				case 2:
					if _, ok, _ := m.Lookup(t.Context(), "a", Task, r.ID); ok {
						used[r.ID] = time.Now()
					}
				default:
					r.Created = time.Now().Add(-time.Duration(random.IntN(20)) * time.Minute).UTC()
					stands, err := m.Claim(t.Context(), r)
					if err != nil {
						t.Fatal(err)
					}
					living[r.ID], used[r.ID] = stands, time.Now()
				}
				for id, at := range used {
					if time.Now().Unix()-at.Unix() > 3600 {
						delete(living, id)
						delete(used, id)
					}
				}
				compare(t, m, living, fmt.Sprint("seed ", seed, " step ", step))
			}
			time.Sleep(2 * time.Hour)
			for i := range m.records.shards {
				m.records.sweepShard(&m.records.shards[i], time.Now())
			}
			compare(t, m, nil, "in the end")
			if n := len(m.records.index("a").agents); n != 0 || m.Len() != 0 {
				t.Errorf("seed %d: %d agents and %d records are left of nothing", seed, n, m.Len())
			}
		})
	}
}

// While a list lets others in at every step, tasks come and go around those that
// stay, and shelves with them. The list has all that stay, once, in order.
func TestListsLetOthersIn(t *testing.T) {
	t.Parallel()
	const stay, owners = 60, 6
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		m := NewMemory(Config{})
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		x := m.records.index("a")
		x.stretch = 1
		claimAt := func(id string, owner, minute int) {
			r := Record{Agent: "a", Kind: Task, ID: id, Owner: fmt.Sprint(owner), Created: time.Unix(int64(minute)*60, 0)}
			if _, err := m.Claim(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
		forget := func(id string) {
			key := appendKey(nil, "a", Task, id)
			s := m.records.shard(key)
			s.mu.Lock()
			defer s.mu.Unlock()
			if e := s.records[string(key)]; e != nil {
				m.records.forget(s, e)
			}
		}
		for i := range stay {
			claimAt(fmt.Sprint("stay-", i), i*owners/stay, i)
			claimAt(fmt.Sprint("goes-", i), random.IntN(2*owners), i)
		}
		var seen []string
		list := x.list(Query{Agent: "a", Everyone: true, Limit: 10_000}, nil, func(e *entry) bool {
			id := e.text[e.id:e.key]
			if strings.HasPrefix(id, "stay-") {
				seen = append(seen, id)
			}
			// Nothing but the lock keeps others out; this is what a pause lets in.
			x.mu.Unlock()
			defer x.mu.Lock()
			for range 3 {
				id := fmt.Sprint("goes-", random.IntN(stay))
				forget(id)
				claimAt(id, random.IntN(2*owners), random.IntN(2*stay))
			}
			if strings.HasPrefix(id, "goes-") {
				forget(id) // the very one that the list stands at
			}
			return true
		})
		want := make([]string, stay)
		for i := range want {
			want[stay-1-i] = fmt.Sprint("stay-", i)
		}
		if !slices.Equal(seen, want) {
			t.Fatalf("seed %d: the list shows\n%q, want\n%q", seed, seen, want)
		}
		if !slices.IsSortedFunc(list, func(e, f *entry) int { return cmp.Compare(f.created, e.created) }) {
			t.Fatalf("seed %d: the list is not in order", seed)
		}
	}
}

func compare(t *testing.T, m *Memory, living map[string]Record, when string) {
	t.Helper()
	line := func(r Record) string { return fmt.Sprint(r.Created.UnixNano(), " ", r.ID) }
	for _, q := range []Query{
		{Everyone: true}, {Owner: "o1"}, {Tenant: "t"}, {Owner: "o1", Tenant: "tt"}, {Owner: "o9"},
	} {
		q.Agent, q.Limit = "a", 1000
		var want, got []string
		for _, r := range living {
			if q.Everyone || r.Owner == q.Owner || q.Tenant != "" && r.Tenant == q.Tenant {
				want = append(want, line(r))
			}
		}
		// All as long, so that the order of text is that of time.
		slices.Sort(want)
		slices.Reverse(want)
		list, err := m.Tasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			got = append(got, line(r))
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%s: %+v lists\n%q, want\n%q", when, q, got, want)
		}
		if n, err := m.Count(t.Context(), q); err != nil || n != len(want) {
			t.Fatalf("%s: %+v counts %d, %v; want %d", when, q, n, err, len(want))
		}
		if paged := inPages(t, m, q, line); !slices.Equal(want, paged) {
			t.Fatalf("%s: %+v pages\n%q, want\n%q", when, q, paged, want)
		}
	}
	held := 0
	for i := range m.records.indexes {
		for agent, l := range m.records.indexes[i].agents {
			held += count(t, l, when+" "+agent)
		}
	}
	if held != m.Len() {
		t.Fatalf("%s: the index holds %d tasks, the store %d", when, held, m.Len())
	}
}

// inPages asks for what q does, three at a time, and lists it line by line.
func inPages(t *testing.T, m *Memory, q Query, line func(Record) string) []string {
	t.Helper()
	q.Limit = 3
	var lines []string
	for {
		page, err := m.Tasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			lines = append(lines, line(r))
		}
		if len(page) < q.Limit {
			return lines
		}
		q.After = page[len(page)-1]
	}
}

// count is how many tasks a library holds, on every axis the same.
func count(t *testing.T, l *library, when string) int {
	t.Helper()
	var on [axes]int
	walk := func(a axis, first *shelf) {
		for s := first; s != nil; s = s.next[a] {
			if s.newest == nil || s.newest.created > s.latest || s.next[a] != nil && s.next[a].latest > s.latest {
				t.Fatalf("%s: a shelf of %s is empty or out of order", when, s.owner)
			}
			for e := s.newest; e != nil; e = e.older {
				on[a]++
			}
		}
	}
	walk(byAgent, l.all)
	for _, first := range l.owners {
		walk(byOwner, first)
	}
	for _, first := range l.tenants {
		walk(byTenant, first)
	}
	if on[byOwner] != on[byAgent] || on[byTenant] != on[byAgent] {
		t.Fatalf("%s: %d tasks by owner, %d by tenant, %d in all", when, on[byOwner], on[byTenant], on[byAgent])
	}
	return on[byAgent]
}
