package upstream

import (
	"sync"
	"time"
)

// A server that has failed this often in a row is left alone for a while, which doubles
// with every further failure.
const (
	breakerFailures = 5
	breakerFirst    = time.Second
	breakerLongest  = 30 * time.Second
)

// breaker keeps a server that does not answer from being asked by everybody who waits.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time
	probing  bool
}

// enter reports whether the server may be asked. After a wait it is asked once, and by
// the others when that has ended.
func (b *breaker) enter(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakerFailures {
		return true
	}
	if now.Before(b.until) {
		return false
	}
	b.until, b.probing = now.Add(tokenTimeout), true
	return true
}

// leave takes over what became of asking. Those who had asked before the server was left
// alone, and fail only then, do not make that longer: how many there were says nothing of
// how long it will be away.
func (b *breaker) leave(now time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probe := b.probing
	b.probing = false
	switch {
	case ok:
		b.failures = 0
		return
	case b.failures >= breakerFailures && !probe:
		return
	}
	b.failures++
	if over := b.failures - breakerFailures; over >= 0 {
		b.until = now.Add(min(breakerFirst<<min(over, 10), breakerLongest))
	}
}
