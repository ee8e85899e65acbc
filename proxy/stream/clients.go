package stream

import "time"

// clients are those who follow a feed. They are waited for within bounds, the fastest as long
// as it takes.
type clients struct {
	replayBuffer

	cursors []*Cursor
	leader  *Cursor // was told that the feed is lost
	joined  bool    // there has been a client

	takes bool   // the source will see to one of the clients who are stirred
	next  func() // that one
}

// company begins what is only looked at among several clients: alone, none waits for
// another.
func (c *clients) company() {
	now := time.Now()
	for _, one := range c.cursors {
		one.active = now
	}
}

// arrived has clients who have all that came before begin to take the newest entry.
//
// From then on the time that a client may take for it is counted.
func (c *clients) arrived() {
	if len(c.cursors) < 2 {
		return
	}
	now := time.Now()
	for _, one := range c.cursors {
		if one.pos+1 == c.tip() {
			one.active = now
		}
	}
}

// remove takes a client away.
//
// The order of clients means nothing, so that the last takes the place of the one that goes.
func (c *clients) remove(gone *Cursor) {
	for i, one := range c.cursors {
		if one == gone {
			last := len(c.cursors) - 1
			c.cursors[i], c.cursors[last] = c.cursors[last], nil
			c.cursors = c.cursors[:last]
			return
		}
	}
}

// full reports whether an entry of that cost has to wait: it would put one away that
// not even the fastest client has, or that another one may still take its time for, which
// is left. Without clients nothing waits, unless the first one has yet to come. While all
// feeds keep too much, because their clients are behind, only one entry is kept ready for
// them.
func (c *clients) full(cost int64) (full bool, left time.Duration) {
	start, ok := c.room(cost)
	if !ok {
		start = c.start // nobody else is waited for
	}
	left = c.late(start)
	return !ok || left > 0, left
}

// room is the number that start would have with an entry of that cost; not ok where the
// fastest client would lose by it.
func (c *clients) room(cost int64) (start uint64, ok bool) {
	b := c.hub.settings().Buffer
	events, bytes := b.Events, int64(b.Bytes)
	if c.hub.bytes.Load() > int64(b.Total) {
		events, bytes = 1, 0
	}
	n, size := c.kept.n+1, c.bytes+cost
	if n <= events && size <= bytes {
		return c.start, true
	}
	fastest, i := c.fastest(), 0
	for ; i < c.kept.n && (n > events || size > bytes); i++ {
		if c.start+uint64(i) >= fastest {
			return 0, false
		}
		n, size = n-1, size-c.kept.at(i).cost
	}
	return c.start + uint64(i), true
}

// late is how long the source may still be held up for clients who would lose entries if
// those up to start were put away.
//
// Zero means that nobody is waited for. Clients that have failed already do not count.
func (c *clients) late(start uint64) (left time.Duration) {
	var now time.Time
	for _, one := range c.cursors {
		hinders := one.err == nil && one.pos >= c.start && one.pos < start
		if !hinders && one.held.IsZero() {
			continue
		}
		if now.IsZero() {
			now = time.Now()
		}
		if !hinders {
			one.release(now)
			continue
		}
		one.hold(now)
		left = max(left, c.hub.settings().Buffer.CatchUp.Std()-max(now.Sub(one.active), one.spent+now.Sub(one.held)))
	}
	return left
}

// enough is the number that a client must come to before a source that waits looks again:
// for one event's room at a time, each would take the other's turn. A client that lags
// behind others is waited for a moment only, and whatever it takes counts.
func (c *clients) enough() uint64 {
	fastest := c.fastest()
	if behind := c.tip() - fastest; behind > 0 {
		return fastest + (behind+1)/2
	}
	return 0
}

// fastest is the number of the newest entry that some client has; with no client to wait
// for, of the newest there is.
func (c *clients) fastest() uint64 {
	fastest, any := c.start, !c.joined
	for _, one := range c.cursors {
		if one.err == nil {
			fastest, any = max(fastest, one.pos), true
		}
	}
	if !any {
		return c.tip()
	}
	return fastest
}

// fail has all clients end with err once they have what is there.
func (c *clients) fail(err error) {
	for _, one := range c.cursors {
		one.fail(err, c.tip())
	}
}

// stir wakes all clients that wait.
//
// The goroutine that has added an entry goes on with one of the clients itself where it may
// (takes), which saves a switch of goroutines for the usual feed of one client.
func (c *clients) stir() {
	for _, one := range c.cursors {
		switch again := one.stir(); {
		case again == nil:
		case c.takes && c.next == nil:
			c.next = again
		default:
			go again()
		}
	}
}

// skip makes n the number of the newest entry although those before it are not there.
func (c *clients) skip(n uint64) {
	c.clear()
	c.start = n
	for _, one := range c.cursors {
		if one.pos < n {
			one.fail(errGap, 0)
		}
	}
}
