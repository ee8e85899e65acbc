package state

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/share"
)

// shards is how many locks the memory driver spreads its ids over: enough that
// two calls on one machine seldom meet, few enough that empty ones cost nothing.
const shards = 128

// records are the Ledger and the Steps of the memory driver, which share one bound.
type records struct {
	limit     int64
	retention time.Duration
	seed      maphash.Seed
	size      atomic.Int64  // records and steps in all shards, never above limit
	owners    share.Holders // of records
	shards    [shards]shard
	indexes   [indexes]index
}

// shard is one lock and what it guards. Swiss maps do not shrink when records
// go, but they reuse the room, and the limit bounds it.
type shard struct {
	mu      sync.Mutex
	records map[string]*entry
	steps   map[stepKey]*step
	_       [40]byte // keeps neighbours' locks off this cache line
}

// init makes an empty one, in place: it is large.
func (m *records) init(limit int64, retention time.Duration) {
	m.limit, m.retention, m.seed = limit, retention, maphash.MakeSeed()
	for i := range m.shards {
		m.shards[i].records = make(map[string]*entry)
		m.shards[i].steps = make(map[stepKey]*step)
	}
	for i := range m.indexes {
		m.indexes[i].agents, m.indexes[i].stretch = make(map[string]*library), stretch
	}
}

// Claim implements Ledger. An id whose retention has run out counts as unknown.
func (m *records) Claim(_ context.Context, r Record) (Record, error) {
	var buf [keyRoom]byte
	key := appendKey(buf[:0], r.Agent, r.Kind, r.ID)
	s := m.shard(key)
	now := time.Now()

	s.mu.Lock()
	defer s.mu.Unlock()
	if e := m.live(s, key, now); e != nil {
		return e.record(r.Agent, r.Kind, r.Extensions), nil
	}
	e := newEntry(key, r, now)
	if !m.admit(e.origin.Value().owner) {
		return Record{}, ErrFull
	}
	s.records[e.name()] = e
	if r.Kind == Task {
		m.index(r.Agent).add(r.Agent, e)
	}
	return e.record(r.Agent, r.Kind, r.Extensions), nil
}

// Lookup implements Ledger.
func (m *records) Lookup(_ context.Context, agent string, k Kind, id string) (Record, bool, error) {
	var buf [keyRoom]byte
	key := appendKey(buf[:0], agent, k, id)
	s := m.shard(key)
	now := time.Now()

	s.mu.Lock()
	defer s.mu.Unlock()
	e := m.live(s, key, now)
	if e == nil {
		return Record{}, false, nil
	}
	return e.record(agent, k, nil), true, nil
}

// Tasks implements Ledger. It takes time for the records it returns and for those
// that it passes by because they are in another context or have run out, never
// for those of others; behind a task also for those of other owners that are newer.
func (m *records) Tasks(_ context.Context, q Query) ([]Record, error) {
	list := m.index(q.Agent).list(q, m.find(q.Agent, q.After.ID), m.shows(q, time.Now()))
	// What an entry says never changes, so that it can be copied at leisure.
	var records []Record
	for _, e := range list {
		records = append(records, e.record(q.Agent, Task, nil))
	}
	return records, nil
}

// Count implements Ledger. It passes by all that it counts, without a copy.
func (m *records) Count(_ context.Context, q Query) (int, error) {
	return m.index(q.Agent).count(q, m.shows(q, time.Now())), nil
}

// shows is the part of a Query that the index does not know.
func (m *records) shows(q Query, now time.Time) func(*entry) bool {
	return func(e *entry) bool {
		return (q.Context == "" || e.context() == q.Context) && !m.expired(e, now)
	}
}

// find returns what is held of a task, or nil. It is no use of it.
func (m *records) find(agent, id string) *entry {
	if id == "" {
		return nil
	}
	var buf [keyRoom]byte
	key := appendKey(buf[:0], agent, Task, id)
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[string(key)]
}

// live finds a record that has not run out and counts the call as its latest
// use. The shard must be locked.
func (m *records) live(s *shard, key []byte, now time.Time) *entry {
	e := s.records[string(key)]
	if e == nil {
		return nil
	}
	if m.expired(e, now) {
		m.forget(s, e)
		return nil
	}
	// Most calls come within a second of the last one; they need not write.
	if second := now.Unix(); e.used.Load() != second {
		e.used.Store(second)
	}
	return e
}

// grow takes the place of one more record or step, if there is one. Taking it
// before filling it keeps the limit exact without a lock over all shards.
func (m *records) grow() bool {
	if m.size.Add(1) > m.limit {
		m.size.Add(-1)
		return false
	}
	return true
}

// Room implements Bounded.
func (m *records) Room(owner string, records int) error {
	n := int64(records)
	if left := m.limit - m.size.Load() - n; left < 0 || m.owners.Has(owner)+n-1 > left {
		return ErrFull
	}
	return nil
}

// admit is grow for an owner's record. Who owns more than there is room for others is refused:
// whoever makes tasks without end would leave nobody a place to own one.
func (m *records) admit(owner string) bool {
	n := m.size.Add(1)
	if n <= m.limit && m.owners.Take(owner, 1, m.limit-n) {
		return true
	}
	m.size.Add(-1)
	return false
}

// forget removes a record from wherever it is held. The shard must be locked.
func (m *records) forget(s *shard, e *entry) {
	delete(s.records, e.name())
	m.owners.Give(e.origin.Value().owner, 1)
	if Kind(e.text[0]) == Task {
		agent := agentOf(e.text)
		m.index(agent).remove(agent, e)
	}
	m.size.Add(-1)
}

// expired compares whole seconds: a record lives for its retention and up to one
// second more.
func (m *records) expired(e *entry, now time.Time) bool {
	return m.over(e.used.Load(), now)
}

// over reports whether what was last used in a second of Unix time has run out.
func (m *records) over(used int64, now time.Time) bool {
	return now.Unix()-used > int64(m.retention/time.Second)
}

func (m *records) shard(key []byte) *shard {
	return &m.shards[maphash.Bytes(m.seed, key)%shards]
}

func (m *records) index(agent string) *index {
	return &m.indexes[maphash.String(m.seed, agent)%indexes]
}

// sweep removes what ran out and was not asked for again. One shard is locked at a time, for
// about a millisecond when the store is full.
func (m *records) sweep(now time.Time) {
	for i := range m.shards {
		m.sweepShard(&m.shards[i], now)
	}
}

func (m *records) sweepShard(s *shard, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.records {
		if m.expired(e, now) {
			m.forget(s, e)
		}
	}
	for k, st := range s.steps {
		if m.over(st.used, now) {
			m.leave(s, k)
		}
	}
}
