package http1

import "time"

// sweepEvery is how often idle connections are looked at. An agent that closes them
// before the idle timeout would otherwise have half of each stay open here.
const sweepEvery = 5 * time.Second

// sweepMost is how many of an origin's connections are looked at each time, the longest
// idle ones, which are the likeliest to have been closed. New requests wait meanwhile,
// half a microsecond for each.
const sweepMost = 512

// interval is sweepEvery, or less where connections are kept for less than that.
func (p *Pool) interval() time.Duration {
	if t := p.Other.IdleConnTimeout; t > 0 && t < sweepEvery {
		return t
	}
	return sweepEvery
}

// sweepIdle closes connections that have been idle for too long or that the agent has
// closed, and forgets origins of which nothing is left.
//
// It runs in a timer's goroutine, one at a time, and only while some connection is idle. The
// connections are closed after the lock is released, as closing may wait.
func (p *Pool) sweepIdle() {
	p.mu.Lock()
	oldest := time.Now().Add(-p.Other.IdleConnTimeout)
	var all []*conn
	left := false
	for at, h := range p.hosts {
		kept := h.idle[:0]
		for n, c := range h.idle {
			expired := p.Other.IdleConnTimeout > 0 && !c.idleSince.After(oldest)
			if expired || n < sweepMost && !c.quiet() {
				all = append(all, c)
			} else {
				kept = append(kept, c)
			}
		}
		clear(h.idle[len(kept):])
		if h.idle = kept; len(kept) > 0 {
			left = true
		} else if !h.http2 && len(h.handed) == 0 {
			delete(p.hosts, at)
		}
	}
	switch {
	case p.sweep == nil: // stopped too late
	case left:
		p.sweep.Reset(p.interval())
	default:
		p.sweep = nil
	}
	p.mu.Unlock()
	for _, c := range all {
		c.close()
	}
}
