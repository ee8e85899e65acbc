package pdp

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxVerdicts is how many answers of one authorizer are remembered, the oldest going
// first: a few megabytes.
const maxVerdicts = 10_000

// cacheKey is a digest of everything that an authorizer is told of a call but the time
// and the call's id.
type cacheKey [sha256.Size]byte

// cache remembers answers. All are kept for the same time, so that they expire in the
// order in which they came, and that order is all the bookkeeping there is.
type cache struct {
	life time.Duration

	mu    sync.Mutex
	known map[cacheKey]remembered
	order []cacheKey // a ring, as long as known was at its largest
	first int        // index of the oldest
}

// remembered is one answer, yes or no. Failures are not remembered.
// An answer of no is worth remembering as much as one of yes: it comes as often.
type remembered struct {
	verdict verdict
	until   time.Time
}

// newCache makes one that keeps answers for a time.
func newCache(life time.Duration) *cache {
	return &cache{life: life, known: map[cacheKey]remembered{}}
}

// get returns the answer to a question that was put before, where it still holds.
// Expired answers stay in the map until their place is needed: the bound is what limits memory.
func (c *cache) get(key cacheKey, now time.Time) (verdict, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.known[key]
	if !ok || !now.Before(r.until) {
		return verdict{}, false
	}
	return r.verdict, true
}

// put remembers an answer to a question that was put at now.
// The time is that of the question and not of the answer, so that a slow answer does not hold
// longer.
func (c *cache) put(key cacheKey, v verdict, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, again := c.known[key]
	c.known[key] = remembered{v, now.Add(c.life)}
	switch {
	case again:
		// Its place in the order is the old one: it goes a little early, at worst.
	case len(c.order) < maxVerdicts:
		c.order = append(c.order, key)
	default:
		delete(c.known, c.order[c.first])
		c.order[c.first] = key
		c.first = (c.first + 1) % maxVerdicts
	}
}
