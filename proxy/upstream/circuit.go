package upstream

import (
	"sync"
	"sync/atomic"
	"time"
)

// circuit is the circuit breaker of an instance: it keeps calls away from one that fails. After
// enough failures in a row, in a short time, it opens, and once in a while lets one call through to
// find out. A failure between successes is not counted: an agent that answers others is there, and
// whoever knows a call that it fails must not be able to take it from them. A call that goes well
// through a closed circuit costs two loads.
//
// The era counts what it went through. Calls remember the era they began in, so that
// what comes of one can never be taken for the outcome of a later probe.
type circuit struct {
	Breaker
	era   atomic.Uint64 // era % 3 is closed, open or probing
	until atomic.Int64  // Unix nanoseconds; open: of the first probe, probing: of the next

	failing  atomic.Bool // failures holds some
	mu       sync.Mutex
	failures []int64 // when the last so many were, a ring
	next     int
}

// What an era is.
const (
	closed uint64 = iota
	open
	probing
	phases
)

// outcome is what a call says of the instance that had it.
type outcome uint8

const (
	well   outcome = iota // it answered
	failed                // it did not, in time, or not for itself
	unsaid                // nothing: the caller left first, or the HTTP proxy on the way fails
)

// newCircuit makes a closed one. Where the breaker is off it counts nothing and stays closed.
func newCircuit(b Breaker) *circuit {
	c := &circuit{Breaker: b}
	if !b.Off {
		c.failures = make([]int64, b.Failures)
	}
	return c
}

// enter asks for one call. The era it returns is leave's, once, if the call may be.
func (c *circuit) enter(now int64) (era uint64, ok bool) {
	era = c.era.Load()
	if era%phases == closed {
		return era, true
	}
	return c.probe(era, now)
}

// probe lets one call through after the wait, and after as long a wait another where
// that has not come to anything: it may be a call that takes its time.
func (c *circuit) probe(era uint64, now int64) (uint64, bool) {
	if now < c.until.Load() {
		return 0, false
	}
	next := era + 1
	if era%phases == probing {
		next = era + phases
	}
	if !c.era.CompareAndSwap(era, next) {
		return 0, false // somebody else's call is the probe
	}
	c.until.Store(now + int64(c.For))
	return next, true
}

// admits reports whether enter would let a call through.
func (c *circuit) admits(now int64) bool {
	return c.era.Load()%phases == closed || now >= c.until.Load()
}

// leave takes over what became of a call. It reports whether the circuit has opened.
//
// A success of any probe closes it; a failure opens it again. A probe that
// says nothing lets the next call be the probe at once.
func (c *circuit) leave(era uint64, now int64, what outcome) bool {
	switch {
	case era%phases != closed:
	case what == failed:
		return c.count(era, now)
	case what == well && c.failing.Load():
		c.forget()
		return false
	default:
		return false
	}
	// Any probe's success will do: that of an instance whose every answer takes longer
	// than the wait is never the latest.
	current := c.era.Load()
	for current%phases == probing {
		next := current + 1
		if what != well {
			next = current + 2
		}
		if c.era.CompareAndSwap(current, next) {
			if what == unsaid {
				c.until.Store(now) // the next call is the probe in its place
			}
			return what == failed
		}
		current = c.era.Load()
	}
	return false
}

// count adds a failure to those of a closed circuit.
func (c *circuit) count(era uint64, now int64) bool {
	if len(c.failures) == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.era.Load() != era {
		return false
	}
	c.failing.Store(true)
	c.failures[c.next] = now
	c.next = (c.next + 1) % len(c.failures)
	if first := c.failures[c.next]; first == 0 || now-first > int64(c.Within) {
		return false
	}
	c.failing.Store(false)
	clear(c.failures)
	c.until.Store(now + int64(c.For))
	c.era.Store(era + 1)
	return true
}

// forget begins to count anew.
func (c *circuit) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing.Store(false)
	clear(c.failures)
}

// wait is how long calls are kept away yet.
func (c *circuit) wait(now int64) time.Duration {
	if c.era.Load()%phases == closed {
		return 0
	}
	return max(0, time.Duration(c.until.Load()-now))
}

// phase is closed, open or probing. A wait that is over counts as probing.
func (c *circuit) phase(now int64) uint64 {
	phase := c.era.Load() % phases
	if phase == open && now >= c.until.Load() {
		return probing
	}
	return phase
}
