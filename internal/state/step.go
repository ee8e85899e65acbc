package state

import (
	"context"
	"hash/maphash"
	"strings"
	"time"
	"unique"
)

// stepKey is a Step as the memory driver holds it: many tasks, but few agents and
// few extensions with states.
type stepKey struct {
	of   unique.Handle[machine]
	task string
}

// machine is the part of a Step that many tasks share.
type machine struct{ agent, extension string }

// step is where a task stands. With its key and the map's room it is about 120
// bytes for the usual 36-byte ids. The map points to it, because storing under a
// key of strings anew would replace the map's copy of them by the caller's.
type step struct {
	state unique.Handle[string]
	used  int64 // Unix seconds of the last Advance
}

// Advance implements Steps. A step whose retention has run out counts as none.
func (m *records) Advance(_ context.Context, s Step, from, to string) (string, error) {
	k := stepKey{of: unique.Make(machine{s.Agent, s.Extension}), task: s.Task}
	sh := &m.shards[maphash.Comparable(m.seed, k)%shards]
	now := time.Now()

	sh.mu.Lock()
	defer sh.mu.Unlock()
	st, current := m.stands(sh, k, now), ""
	if st != nil {
		current = st.state.Value()
	}
	switch {
	case current != from || from == to:
		return current, nil
	case to == "":
		m.leave(sh, k)
		return "", nil
	case st == nil:
		if !m.grow() {
			return "", ErrFull
		}
		// The id is often a piece of an event, which must not live as long.
		k.task = strings.Clone(k.task)
		st = &step{used: now.Unix()}
		sh.steps[k] = st
	}
	st.state = unique.Make(to)
	return to, nil
}

// stands finds a step that has not run out and counts the call as its latest use.
// The shard must be locked.
func (m *records) stands(sh *shard, k stepKey, now time.Time) *step {
	st := sh.steps[k]
	if st == nil {
		return nil
	}
	if m.over(st.used, now) {
		m.leave(sh, k)
		return nil
	}
	st.used = now.Unix()
	return st
}

// leave removes a step. The shard must be locked.
func (m *records) leave(sh *shard, k stepKey) {
	delete(sh.steps, k)
	m.size.Add(-1)
}
