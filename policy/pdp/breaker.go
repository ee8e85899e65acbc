package pdp

import (
	"sync"
	"time"
)

// An authorizer that has failed this often in a row is left alone for a while, which
// doubles with every further failure.
const (
	breakerFailures = 5
	breakerFirst    = time.Second
	breakerLongest  = 30 * time.Second
)

// outcome is what a question showed about the authorizer.
type outcome uint8

const (
	unknown outcome = iota // nobody waited for the answer
	alive
	failed
)

// breaker keeps an authorizer that does not answer from costing every call its timeout.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time // while failures are too many: when it may be asked again
	probing  bool      // somebody is asking whether it is back
}

// enter reports whether it may be asked. After a wait one question goes through, and the
// others when that has been answered.
func (b *breaker) enter(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakerFailures {
		return true
	}
	if b.probing || now.Before(b.until) {
		return false
	}
	b.probing = true
	return true
}

// leave takes over what became of a question that entered. turned says that the
// authorizer is given up with it (failed), or back (alive).
func (b *breaker) leave(now time.Time, o outcome) (turned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probed := b.probing
	b.probing = false
	switch o {
	case alive:
		turned = b.failures >= breakerFailures
		b.failures = 0
	case failed:
		if b.failures >= breakerFailures && !probed {
			break // it was asked before it was given up; a hundred of those are one outage
		}
		b.failures++
		turned = b.failures == breakerFailures
		if over := b.failures - breakerFailures; over >= 0 {
			b.until = now.Add(min(breakerFirst<<min(over, 10), breakerLongest))
		}
	case unknown:
	}
	return turned
}
