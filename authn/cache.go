package authn

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"
)

// Bounds of the verified-token cache.
const (
	// maxRemembered is how long a verification is good without looking again. It
	// bounds what a revocation at the issuer can take beyond the key set's age.
	maxRemembered = 30 * time.Second
	cacheShards   = 32
	// shardEntries times cacheShards is 32,768 callers at once, about 50 MiB with
	// their claims when full. Only verified tokens get in, so strangers cannot
	// push callers out.
	shardEntries = 1024
)

// cache remembers verified tokens, since verifying one costs a hundred times what
// the rest of a call does. It is shared by the chains of successive
// configurations; whoever finds an entry must check that it is still theirs.
type cache struct {
	shards [cacheShards]shard
}

type shard struct {
	mu      sync.RWMutex
	entries map[[32]byte]entry
	_       [64]byte // keeps the locks of neighbours off one cache line
}

// entry is one verified token. Issuer and generation stand here and not in the
// key: they follow from the token, and comparing them on every hit can only turn a
// hit into a miss, whereas reading the issuer out of the token first would cost
// more than the rest of the hit.
type entry struct {
	principal *Principal
	bound     confirmation // to be proved by each request
	issuer    *issuer      // the configured issuer that verified it
	lost      uint64       // generation of its key set at that time
	since     time.Time    // when it was remembered, by the wall clock
	until     time.Time    // at most the token's exp, by the wall clock
}

func newCache() *cache {
	c := new(cache)
	for i := range c.shards {
		c.shards[i].entries = make(map[[32]byte]entry)
	}
	return c
}

// digest is the cache key of a whole token: SHA-256 over length-prefixed parts, so
// that no token can be another one's key, whatever bytes it is made of. The token
// itself is not kept in memory.
func digest(raw string) [32]byte {
	const scheme = "\x00\x04oidc"
	var buf [len(scheme) + 4 + 2048]byte // on the stack for tokens of usual size
	b := append(buf[:0], scheme...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(raw))) //nolint:gosec // headers are far shorter
	b = append(b, raw...)
	return sha256.Sum256(b)
}

// find returns a live entry. One of the future is none: the clock was set back, and the
// token has to be judged by the new time.
func (c *cache) find(id [32]byte, now time.Time) (entry, bool) {
	s := &c.shards[id[0]%cacheShards]
	s.mu.RLock()
	e, ok := s.entries[id]
	s.mu.RUnlock()
	return e, ok && !now.Before(e.since) && now.Before(e.until)
}

// add remembers a verified token, making room where there is none.
func (c *cache) add(id [32]byte, e entry, now time.Time) {
	if !now.Before(e.until) {
		return
	}
	// Without the monotonic clock, which goes on as if nothing were when the other jumps.
	e.since, e.until = now.Round(0), e.until.Round(0)
	s := &c.shards[id[0]%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[id]; !ok && len(s.entries) >= shardEntries {
		s.evict(now)
	}
	s.entries[id] = e
}

// evict removes what has expired among a handful of entries, and at least the one
// of them that would expire first. Go's map order is the random sample.
func (s *shard) evict(now time.Time) {
	const sample = 8
	var first [32]byte
	var until time.Time
	seen := 0
	for id, e := range s.entries {
		if !now.Before(e.until) {
			delete(s.entries, id)
		} else if until.IsZero() || e.until.Before(until) {
			first, until = id, e.until
		}
		if seen++; seen == sample {
			break
		}
	}
	if len(s.entries) >= shardEntries {
		delete(s.entries, first)
	}
}
