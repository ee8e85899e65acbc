package upstream

import (
	"sync"
	"sync/atomic"
	"time"
)

// callers are who has calls at an instance, or at an agent. What fails for one caller alone,
// where others call as well, says nothing of it: that caller may know a call that the agent
// fails at.
type callers struct {
	latest atomic.Uint64 // whose the latest call was; 0 for nobody's
	mixed  atomic.Int64  // Unix nanoseconds; when somebody else called than before
}

// note notes whose a call is.
//
// Callers are known by a hash of their names, as nothing but "the same or another" is asked.
func (c *callers) note(who uint64, now int64) {
	if before := c.latest.Load(); before != who {
		c.latest.Store(who)
		if before != 0 {
			c.mixed.Store(now)
		}
	}
}

// single reports whether all calls have been one caller's for some time.
func (c *callers) single(now int64, within time.Duration) bool {
	at := c.mixed.Load()
	return at == 0 || now-at > int64(within)
}

// row is failures since the last success, and whose they are.
type row struct {
	n atomic.Int64 // a success costs no more than to look at it

	mu      sync.Mutex
	first   int64 // Unix nanoseconds; of the first of them
	who     uint64
	several bool // they are not one caller's
}

// over ends the row.
func (r *row) over() {
	if r.n.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n.Store(0)
}

// add counts a failure. A row that began longer than within ago begins anew; 0 for no such
// limit.
func (r *row) add(who uint64, now int64, within time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.n.Load() == 0 || within > 0 && now-r.first > int64(within):
		r.first, r.who, r.several = now, who, false
		r.n.Store(1)
		return
	case who != r.who:
		r.several = true
	}
	r.n.Add(1)
}

// shared reports whether failures of several callers are in the row.
func (r *row) shared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.several
}
