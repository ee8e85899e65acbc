package authn

import (
	"sync"
	"time"
)

// Bounds of what is remembered of answers: 16,384 tokens of either kind.
const (
	findingShards = 16
	findingsEach  = 1024
)

// findings remembers answers about tokens, by the digest of the token. The zero value
// is empty.
type findings struct {
	shards [findingShards]findingShard
}

type findingShard struct {
	mu    sync.RWMutex
	known map[[32]byte]finding
	_     [64]byte // keeps the locks of neighbours off one cache line
}

// find returns a finding that is still good. One of the future is not: the clock was
// set back, and nobody can tell any more how old it is.
func (s *findings) find(id [32]byte, now time.Time) (finding, bool) {
	shard := &s.shards[id[0]%findingShards]
	shard.mu.RLock()
	f, ok := shard.known[id]
	shard.mu.RUnlock()
	return f, ok && !now.Before(f.asked) && now.Before(f.until)
}

// add remembers a finding, in place of one that ends soon where there is no room.
func (s *findings) add(id [32]byte, f finding, now time.Time) {
	if !now.Before(f.until) {
		return
	}
	f.asked, f.until = f.asked.Round(0), f.until.Round(0) // judged by the wall clock, even if it jumps
	shard := &s.shards[id[0]%findingShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if shard.known == nil {
		shard.known = make(map[[32]byte]finding)
	}
	if _, ok := shard.known[id]; !ok && len(shard.known) >= findingsEach {
		shard.evict(now)
	}
	shard.known[id] = f
}

// evict removes what is past among a handful, and at least the one of them that would
// be first. Go's map order is the random sample.
func (s *findingShard) evict(now time.Time) {
	const sample = 8
	var first [32]byte
	var until time.Time
	seen := 0
	for id, f := range s.known {
		if !now.Before(f.until) {
			delete(s.known, id)
		} else if until.IsZero() || f.until.Before(until) {
			first, until = id, f.until
		}
		if seen++; seen == sample {
			break
		}
	}
	if len(s.known) >= findingsEach {
		delete(s.known, first)
	}
}
