package authn

import (
	"sync"
	"time"
)

// Bounds of a memory.
const (
	memoryShards = 32
	// memoryEach times memoryShards is 32,768 tokens.
	memoryEach = 1024
)

// memory remembers what was found out about tokens, by the digest of the token. The
// zero value is empty.
type memory[V any] struct {
	shards [memoryShards]memoryShard[V]
}

type memoryShard[V any] struct {
	mu    sync.RWMutex
	known map[[32]byte]remembered[V]
	_     [64]byte // keeps the locks of neighbours off one cache line
}

// remembered is good from since until until, by the wall clock.
type remembered[V any] struct {
	value        V
	since, until time.Time
}

// find returns what is still good. What is of the future is not: the clock was set back,
// and nobody can tell any more how old it is.
func (m *memory[V]) find(id [32]byte, now time.Time) (V, bool) {
	s := &m.shards[id[0]%memoryShards]
	s.mu.RLock()
	r, ok := s.known[id]
	s.mu.RUnlock()
	return r.value, ok && !now.Before(r.since) && now.Before(r.until)
}

// remember adds what is good for some time, making room where there is none.
func (m *memory[V]) remember(id [32]byte, v V, since, until, now time.Time) {
	if !now.Before(until) {
		return
	}
	s := &m.shards[id[0]%memoryShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[[32]byte]remembered[V])
	}
	if _, ok := s.known[id]; !ok && len(s.known) >= memoryEach {
		s.evict(now)
	}
	// Without the monotonic clock, which goes on as if nothing were when the other jumps.
	s.known[id] = remembered[V]{v, since.Round(0), until.Round(0)}
}

// evict removes what is past among a handful, and at least the one of them that would
// be first. Go's map order is the random sample.
func (s *memoryShard[V]) evict(now time.Time) {
	const sample = 8
	var first [32]byte
	var until time.Time
	seen := 0
	for id, r := range s.known {
		if !now.Before(r.until) {
			delete(s.known, id)
		} else if until.IsZero() || r.until.Before(until) {
			first, until = id, r.until
		}
		if seen++; seen == sample {
			break
		}
	}
	if len(s.known) >= memoryEach {
		delete(s.known, first)
	}
}
