package overload

import (
	"math"
	"time"
)

const (
	// patience is for how long every single probe has to wait too long before it counts:
	// bursts, collections and a machine that was busy for a moment make a queue that goes
	// away by itself. What does not go away is a standing queue, which only less work ends.
	patience = time.Second

	// quiet is for how long nobody has to be refused before the rung does not stand any more.
	quiet = 2 * time.Second

	// drain is what of the calls that can be done is let in while those that have gathered
	// are done, steady what is let in from then on, and more by how much more in each span.
	drain, steady, more = .5, .85, 1.04

	// least is what of the calls at the beginning the shares may come down to. When work
	// waits too long even so, it waits for something else, a neighbour on the machine most
	// likely: then refusing is in vain, and is left alone for a while.
	least   = 1.0 / 20
	vainFor = 10 * time.Second
)

// governor turns the shares so that work waits no longer than it may. As in CoDel
// (RFC 8289) it is the shortest wait of a span that counts. As long as that is too long
// the process does what it can, so what it gets done then is how much that is.
type governor struct {
	aboveSince time.Time     // every span since waited too long; zero for no
	clearSince time.Time     // nobody was refused since; zero for no
	floorSince time.Time     // there was nothing left to refuse since; zero for no
	floorDelay time.Duration // at that time
	before     time.Duration // the delay of the span before
	calls      int64         // in flight at its end
	able       float64       // calls a second that can be done, as far as is known
	floor      float64       // calls a second that are not refused whatever happens
	highest    float64       // what one caller had when the rung came to stand
}

// traffic is what became of calls in a span, as calls a second.
type traffic struct {
	highest, all float64 // of one caller, and of all: asked for of late
	done         float64 // that were let in and have ended
}

// look takes a span into account.
func (l *Ladder) look(g *governor, span time.Duration) traffic {
	perSecond := float64(time.Second) / float64(max(span, time.Millisecond))
	highest, all, asked := l.shares.look(perSecond)
	calls, refused := l.calls.Load(), l.shares.refused.Swap(0)
	// What was let in and is not in flight any more has ended.
	done := float64(asked-refused-(calls-g.calls)) * perSecond
	g.calls = calls
	return traffic{highest, all, max(0, done)}
}

// weighDelay judges how long work waits. span is the time since the last judgement.
func (l *Ladder) weighDelay(s set, g *governor, r *Reading, limit, span time.Duration, now time.Time) set {
	if limit == 0 {
		return l.relent(s, g)
	}
	over := r.Delay > limit
	switch {
	case s.has(Delay):
		return l.govern(s, g, r, l.look(g, span), span, limit, now)
	case !over:
		return l.relent(s, g)
	case g.aboveSince.IsZero():
		if now.Before(l.restUntil) {
			return s
		}
		g.aboveSince, g.calls = now, l.calls.Load()
		l.shares.counting.Store(true)
		return s
	}
	t := l.look(g, span)
	g.able += (t.done - g.able) * latest
	if now.Sub(g.aboveSince) < patience || t.all == 0 {
		return s
	}
	g.highest, g.floor, g.before = t.highest, t.all*least, r.Delay
	l.shares.settle(l.shares.fill(max(g.floor, drain*g.able), t.highest))
	return s.with(Delay, true)
}

// govern turns the shares of a rung that stands.
func (l *Ladder) govern(s set, g *governor, r *Reading, t traffic, span, limit time.Duration, now time.Time) set {
	over, each, low := r.Delay > limit, l.shares.each, false
	switch {
	case over:
		g.able += (t.done - g.able) * latest / 4
		if !falls(g.before, r.Delay, span) { // what has gathered gets no less
			// From what is felt: a share that nobody exceeds is no less for being smaller.
			less := min(each, t.highest) * max(.8, math.Pow(float64(limit)/float64(r.Delay), 1./8))
			if low = l.shares.under(less) < g.floor; !low {
				each = less
			}
		}
	case g.before > limit: // what had gathered has been done
		each = max(each, l.shares.fill(steady*g.able, t.highest))
	default:
		each = min(each*more+.1, 2*g.highest)
	}
	g.before = r.Delay
	l.shares.settle(each)
	if t.all > 0 {
		r.Refusing = 1 - l.shares.under(each)/t.all
	}
	since(&g.clearSince, !over && r.Refusing < .01, now)
	if g.vain(low, over, r.Delay, now) {
		l.restUntil = now.Add(vainFor)
		return l.relent(s, g)
	}
	if !g.clearSince.IsZero() && now.Sub(g.clearSince) >= quiet {
		return l.relent(s, g)
	}
	return s
}

// vain reports whether there has been nothing left to refuse for a while, and the delay is
// no shorter for it.
func (g *governor) vain(low, over bool, delay time.Duration, now time.Time) bool {
	switch {
	case !over:
		g.floorSince = time.Time{}
	case g.floorSince.IsZero():
		if low {
			g.floorSince, g.floorDelay = now, delay
		}
	case now.Sub(g.floorSince) >= patience:
		if !falls(g.floorDelay, delay, now.Sub(g.floorSince)) {
			return true
		}
		g.floorSince, g.floorDelay = now, delay
	}
	return false
}

// falls reports whether a delay gets shorter in earnest: with nothing new to do it would, by
// the time that has gone by.
func falls(before, delay, in time.Duration) bool { return before-delay > in/4 }

// since notes when something began to hold.
func since(t *time.Time, holds bool, now time.Time) {
	switch {
	case !holds:
		*t = time.Time{}
	case t.IsZero():
		*t = now
	}
}

// relent ends the rung.
func (l *Ladder) relent(s set, g *governor) set {
	if l.shares.counting.Load() {
		l.shares.forget()
	}
	*g = governor{}
	return s.with(Delay, false)
}
