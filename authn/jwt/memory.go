package jwt

import (
	"sync"
	"time"
)

// Bounds of a memory.
const (
	memoryShards = 32
	// memoryEach times memoryShards is 32,768 tokens.
	memoryEach = 1024
	// memoryBytes is how many bytes all entries weigh at most: what 25,000 tokens of the usual
	// size take. Those of users with hundreds of groups take twenty times as much each, and
	// would fill gigabytes before they are too many.
	memoryBytes = 64 << 20
	// memoryShare is what is a shard's. What is heavier alone is not remembered.
	memoryShare = memoryBytes / memoryShards
)

// memory remembers what was found out about tokens, by the digest of the token. The
// zero value is empty.
// Tokens are known by digest alone, so that nothing in the memory of the process can be presented.
type memory[V any] struct {
	shards [memoryShards]memoryShard[V]
}

// The first byte of a digest chooses the shard, which spreads tokens evenly.
type memoryShard[V any] struct {
	mu    sync.RWMutex
	known map[[32]byte]remembered[V]
	bytes int      // the sum of what they weigh
	_     [64]byte // keeps the locks of neighbours off one cache line
}

// remembered is good from since until until, by the wall clock.
type remembered[V any] struct {
	value        V
	bytes        int
	since, until time.Time
}

// find returns what is still good. What is of the future is not: the clock was set back,
// and nobody can tell any more how old it is.
func (m *memory[V]) find(id [32]byte, now time.Time) (V, bool) {
	s := &m.shards[id[0]%memoryShards]
	s.mu.RLock()
	r, ok := s.known[id]
	// The entry is a copy: it may be forgotten while the caller reads it.
	s.mu.RUnlock()
	return r.value, ok && !now.Before(r.since) && now.Before(r.until)
}

// remember adds what is good for some time and weighs so many bytes, making room where there
// is none.
func (m *memory[V]) remember(id [32]byte, v V, bytes int, since, until, now time.Time) {
	if !now.Before(until) {
		return
	}
	s := &m.shards[id[0]%memoryShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(id) // what was known before is out of date
	if bytes > memoryShare {
		return
	}
	for len(s.known) >= memoryEach || s.bytes+bytes > memoryShare {
		s.evict(now)
	}
	if s.known == nil {
		s.known = make(map[[32]byte]remembered[V])
	}
	// Without the monotonic clock, which goes on as if nothing were when the other jumps.
	s.known[id] = remembered[V]{v, bytes, since.Round(0), until.Round(0)}
	s.bytes += bytes
}

// forget removes an entry, if it is there.
func (s *memoryShard[V]) forget(id [32]byte) {
	s.bytes -= s.known[id].bytes
	delete(s.known, id)
}

// evict removes what is past among a handful, or else the one of them that would be first.
// Go's map order is the random sample.
func (s *memoryShard[V]) evict(now time.Time) {
	const sample = 8
	var first [32]byte
	var until time.Time
	seen, past := 0, false
	for id, r := range s.known {
		if !now.Before(r.until) {
			s.forget(id)
			past = true
		} else if until.IsZero() || r.until.Before(until) {
			first, until = id, r.until
		}
		if seen++; seen == sample {
			break
		}
	}
	if !past {
		s.forget(first)
	}
}
