package statetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// agenda is the model of a queue: all items, those of one line in their order.
type agenda struct {
	now  time.Time
	list []*planned
}

type planned struct {
	state.Item
	holder string    // the latest, until the item is settled
	until  time.Time // of the lease, or of being remembered
}

func (a *agenda) find(id string) *planned {
	for _, p := range a.list {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (a *agenda) remove(p *planned) {
	a.list = slices.DeleteFunc(a.list, func(o *planned) bool { return o == p })
}

// load is how many wait, or are dead, and once more those of an owner.
func (a *agenda) load(owner string, dead bool) (n int) {
	for _, p := range a.list {
		if p.Dead == dead {
			n++
			if owner != "" && p.Owner() == owner {
				n++
			}
		}
	}
	return n
}

// forgotten finds out which of an owner's dead has gone: one that none would be forgotten
// before.
func (a *agenda) forgotten(rt *rapid.T, q state.Queue, owner string) {
	kept := ids(items(rt, q, true, "", 99))
	var gone *planned
	for _, p := range a.list {
		if p.Dead && p.Owner() == owner && !slices.Contains(kept, p.ID) {
			gone = p
		}
	}
	if gone == nil {
		rt.Fatal("none was forgotten")
	}
	for _, p := range a.list {
		if p.Dead && p.Owner() == owner && p.until.Before(gone.until) {
			rt.Fatalf("%s was forgotten before %s", gone.ID, p.ID)
		}
	}
	a.remove(gone)
}

// ready is whom Take may give: first those that are due longest.
func (a *agenda) ready() []*planned {
	var ready []*planned
	seen := map[string]bool{}
	for _, p := range a.list {
		if p.Dead || seen[p.Line] {
			continue
		}
		seen[p.Line] = true
		if !p.Due.After(a.now) && !p.until.After(a.now) {
			ready = append(ready, p)
		}
	}
	slices.SortStableFunc(ready, func(a, b *planned) int { return a.Due.Compare(b.Due) })
	return ready
}

// take checks what Take has given. Of those that are due since the same moment it may
// have given any.
func (a *agenda) take(rt *rapid.T, got []state.Item, holder string, n int, lease time.Duration) {
	a.list = slices.DeleteFunc(a.list, func(p *planned) bool { return p.Dead && !p.until.After(a.now) })
	ready := a.ready()
	if len(got) != min(n, len(ready)) {
		rt.Fatalf("taken are %q of %d", ids(got), len(ready))
	}
	for i, it := range got {
		at := slices.IndexFunc(ready, func(p *planned) bool { return cmp.Equal(p.Item, it, cmpopts.EquateEmpty()) })
		if at < 0 || !it.Due.Equal(ready[i].Due) {
			rt.Fatalf("taken is %+v; want %+v", it, ready[i].Item)
		}
		ready[at].holder, ready[at].until = holder, a.now.Add(lease)
	}
}

// settle finds an item that is holder's.
func (a *agenda) settle(rt *rapid.T, err error, holder, id string) *planned {
	p := a.find(id)
	if p == nil || p.Dead || p.holder != holder {
		settled(rt, err, state.ErrTaken)
		return nil
	}
	settled(rt, err, nil)
	p.holder, p.until = "", time.Time{}
	return p
}

// draws are what random operations are made of: few of each, so that they meet.
type draws struct{ id, line, holder *rapid.Generator[string] }

func newDraws() draws {
	of := func(prefix string, n int) *rapid.Generator[string] {
		return rapid.Map(rapid.IntRange(1, n), func(i int) string { return fmt.Sprint(prefix, i) })
	}
	return draws{id: of("id", 8), line: rapid.SampledFrom([]string{"line1", "a/1", "a/2", "b/1"}), holder: of("holder", 2)}
}

func span(rt *rapid.T, name string) time.Duration {
	return time.Duration(rapid.IntRange(0, 5).Draw(rt, name)) * time.Second
}

// queueModel compares a queue with one that is easy to understand.
func queueModel(rt *rapid.T, q state.Queue) {
	m, d, ctx := &agenda{now: noon()}, newDraws(), context.Background()
	actions := m.settling(q, d)
	actions["push"] = func(rt *rapid.T) {
		it := ExampleItem(d.id.Draw(rt, "id"), d.line.Draw(rt, "line"))
		it.Pushed, it.Due = m.now.Add(-span(rt, "age")), m.now.Add(span(rt, "delay"))
		most := rapid.IntRange(0, 6).Draw(rt, "most")
		ok, err := q.Push(ctx, "q", it, int64(most))
		there, full := m.find(it.ID) != nil, most > 0 && m.load(it.Owner(), false) >= most
		if ok != (!there && !full) || errors.Is(err, state.ErrFull) != (!there && full) || (err != nil && there) {
			rt.Fatalf("pushed %v, %v; there %v, full %v", ok, err, there, full)
		}
		if ok {
			m.list = append(m.list, &planned{Item: it})
		}
	}
	actions["take"] = func(rt *rapid.T) {
		holder, n, lease := d.holder.Draw(rt, "holder"), rapid.IntRange(1, 3).Draw(rt, "n"), span(rt, "lease")
		got, err := q.Take(ctx, "q", holder, m.now, n, lease)
		if err != nil {
			rt.Fatal(err)
		}
		m.take(rt, got, holder, n, lease)
	}
	actions["wait"] = func(rt *rapid.T) { m.now = m.now.Add(span(rt, "wait")) }
	actions[""] = func(rt *rapid.T) { m.compare(rt, q) }
	rt.Repeat(actions)
}

// settling is what happens to items that were pushed.
func (a *agenda) settling(q state.Queue, d draws) map[string]func(*rapid.T) {
	ctx := context.Background()
	return map[string]func(*rapid.T){
		"done": func(rt *rapid.T) {
			holder, id := d.holder.Draw(rt, "holder"), d.id.Draw(rt, "id")
			if p := a.settle(rt, q.Done(ctx, "q", holder, id), holder, id); p != nil {
				a.remove(p)
			}
		},
		"again": func(rt *rapid.T) {
			holder, id, due := d.holder.Draw(rt, "holder"), d.id.Draw(rt, "id"), a.now.Add(span(rt, "delay"))
			if p := a.settle(rt, q.Again(ctx, "q", holder, id, due, "again"), holder, id); p != nil {
				p.Due, p.Error, p.Attempts = due, "again", p.Attempts+1
			}
		},
		"bury": func(rt *rapid.T) {
			holder, id, keep := d.holder.Draw(rt, "holder"), d.id.Draw(rt, "id"), span(rt, "keep")
			most := rapid.IntRange(0, 4).Draw(rt, "most")
			err := q.Bury(ctx, "q", holder, id, "dead", a.now, state.Keep{For: keep, Most: int64(most)})
			if p := a.settle(rt, err, holder, id); p != nil {
				p.Dead, p.Error, p.Attempts, p.until = true, "dead", p.Attempts+1, a.now.Add(keep)
				if most > 0 && p.Owner() != "" && a.load(p.Owner(), true) > most+1 {
					a.forgotten(rt, q, p.Owner())
				}
			}
		},
		"revive": func(rt *rapid.T) {
			id := d.id.Draw(rt, "id")
			p := a.find(id)
			dead := p != nil && p.Dead && p.until.After(a.now)
			if got := revive(rt, q, id, a.now); got != dead {
				rt.Fatalf("revived %v", got)
			}
			if dead {
				a.remove(p)
				p.Dead, p.Error, p.Attempts, p.Due, p.until = false, "", 0, a.now, time.Time{}
				a.list = append(a.list, p)
			}
		},
		"remove": func(rt *rapid.T) {
			id := d.id.Draw(rt, "id")
			p := a.find(id)
			if ok, err := q.Remove(ctx, "q", id); err != nil || ok != (p != nil) {
				rt.Fatalf("removed %v, %v", ok, err)
			}
			a.remove(p)
		},
		"remove line": func(rt *rapid.T) {
			line, before := d.line.Draw(rt, "line"), len(a.list)
			a.list = slices.DeleteFunc(a.list, func(p *planned) bool { return p.Line == line })
			if n, err := q.RemoveLine(ctx, "q", line); err != nil || n != before-len(a.list) {
				rt.Fatalf("%d removed, %v; want %d", n, err, before-len(a.list))
			}
		},
	}
}

// compare looks at all that can be seen.
func (a *agenda) compare(rt *rapid.T, q state.Queue) {
	var want state.Depth
	lists := map[bool][]state.Item{}
	for _, p := range a.list {
		lists[p.Dead] = append(lists[p.Dead], p.Item)
		switch {
		case p.Dead && p.until.After(a.now):
			want.Dead++
		case !p.Dead:
			want.Waiting++
			if want.Oldest.IsZero() || p.Pushed.Before(want.Oldest) {
				want.Oldest = p.Pushed
			}
		}
	}
	depth(rt, q, a.now, want)
	for _, dead := range []bool{false, true} {
		byID := func(a, b state.Item) bool { return a.ID < b.ID }
		got := items(rt, q, dead, "", 99)
		if diff := cmp.Diff(lists[dead], got, cmpopts.SortSlices(byID), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("dead %v (-want +got):\n%s", dead, diff)
		}
	}
}
