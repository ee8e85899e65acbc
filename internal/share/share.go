// Package share keeps anybody from having all of what everybody uses.
//
// Whoever has some of it may have no more than is left for others: half alone, so that there
// always is some for who comes anew. As long as most of it is free, nobody is refused. It owns
// the counting alone: what there is of it, and what a refusal looks like, is its users'. It
// imports nothing of the house.
package share

import (
	"hash/maphash"
	"sync"
)

// Holders are who has how much of one thing. The zero value is nobody. They take memory for
// those alone who have some.
type Holders struct{ shards [shards]shard }

// shards is how many locks there are: enough that two calls on one machine seldom meet.
const shards = 16

type shard struct {
	mu sync.Mutex
	of map[string]int64
}

// seed keeps callers from choosing whose lock they share.
var seed = maphash.MakeSeed()

func (h *Holders) shard(who string) *shard { return &h.shards[maphash.String(seed, who)%shards] }

// Take gives somebody n more, where there are left then for others. It is false, and nothing
// is given, where that one had more than that already. Otherwise Give is owed the same n.
func (h *Holders) Take(who string, n, left int64) bool {
	s := h.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	has := s.of[who]
	if has > left {
		return false
	}
	if s.of == nil {
		s.of = map[string]int64{}
	}
	s.of[who] = has + n
	return true
}

// Has is how much somebody has.
func (h *Holders) Has(who string) int64 {
	s := h.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[who]
}

// Give takes back what Take has given.
func (h *Holders) Give(who string, n int64) {
	s := h.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[who] -= n; s.of[who] == 0 {
		delete(s.of, who)
	}
}
