package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// Cursor is where one client is in a feed. It is for one goroutine, except that Close
// may be called by any.
//
// All fields are guarded by the feed's mutex, but for feed and wake, which do not change.
type Cursor struct {
	feed *Feed
	wake chan struct{} // has room for one

	pos    uint64 // number of the entry that was given last
	waits  bool
	again  func() // is called instead of sending to wake; nil for sending
	closed bool
	err    error  // what it ends with
	until  uint64 // once it has come so far

	active time.Time // when it took the last entry, or there came to be one to take; while it has company

	// The time for which the feed's source has waited for this client alone.
	held  time.Time // since when it does; zero: it does not
	freed time.Time // when it last ceased to
	spent time.Duration
}

var errClosed = errors.New("the cursor is closed")

// Next gives the entry behind the one before, and waits for it. Its errors are io.EOF
// where the feed has ended and everything was given, ErrLost where the client is to open
// another source (it may call Next again once that is done), ErrSlow where the client has
// fallen behind what is kept, errGap, ErrDraining, what the source ended with in a feed
// that is bound to no task, what the Judge said, what Fail was called with, or the cause
// of ctx's end.
func (c *Cursor) Next(ctx context.Context) (Entry, error) {
	for {
		if ctx.Err() != nil {
			return Entry{}, context.Cause(ctx)
		}
		if e, ok, err := c.take(); ok || err != nil {
			return e, err
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
	}
}

// Peek gives the entry that Next would give, if it is there.
func (c *Cursor) Peek() (e Entry, ok bool) {
	f := c.feed.lock()
	defer f.mu.Unlock()
	if c.closed || c.err != nil || c.pos < f.start || c.pos >= f.tip() {
		return e, false
	}
	return f.entry(int(c.pos - f.start)), true //nolint:gosec // fewer than the feed holds
}

// Await has again called once, in a goroutine of its own, as soon as Next would not wait. It
// is false, and again is not called, where that is so already.
func (c *Cursor) Await(again func()) bool {
	f := c.feed.lock()
	defer f.mu.Unlock()
	if c.ready(f) {
		return false
	}
	c.waits, c.again = true, again
	return true
}

// Ready reports whether Next would not wait.
func (c *Cursor) Ready() bool {
	f := c.feed.lock()
	defer f.mu.Unlock()
	return c.ready(f)
}

// ready is Ready with the feed locked. A cursor that is told of a loss is ready, if it is the one
// to mend it.
func (c *Cursor) ready(f *Feed) bool {
	switch {
	case c.closed, c.err != nil && (c.pos >= c.until || f.gone), c.pos != f.tip():
		return true
	case f.source != nil, f.shared.following:
		return false
	}
	return f.phase != lost || f.leader == nil || f.leader == c
}

// take gives the next entry if it is there.
//
// Without an entry and without an error the cursor is marked as waiting, so that the next entry
// wakes it.
func (c *Cursor) take() (e Entry, ok bool, err error) {
	f := c.feed.lock()
	defer f.mu.Unlock()
	switch {
	case c.closed:
		return e, false, errClosed
	case c.err != nil && (c.pos >= c.until || f.gone):
		return e, false, c.err
	case c.pos < f.start:
		return e, false, ending.ErrSlow
	case c.pos < f.tip():
		e = f.entry(int(c.pos - f.start)) //nolint:gosec // within what is kept
		c.pos++
		if len(f.cursors) > 1 {
			c.active = time.Now()
		}
		if f.source != nil && c.pos >= f.source.until {
			f.source.retry()
		}
		return e, true, nil
	case f.source != nil, f.shared.following:
	case f.phase == lost && (f.leader == nil || f.leader == c):
		f.leader = c
		return e, false, f.loss()
	case f.phase == lost:
	case f.over != nil:
		return e, false, f.over
	default:
		return e, false, io.EOF
	}
	c.waits = true
	return e, false, nil
}

// loss is what the leader is told.
func (f *Feed) loss() error {
	if f.over == nil {
		return ErrLost
	}
	return fmt.Errorf("%w: %w", ErrLost, f.over)
}

// Number is that of the entry that Next gave last, also where the feed was bound to its
// task only after that; 0 before the first one and in a feed that is not bound.
func (c *Cursor) Number() uint64 {
	f := c.feed.lock()
	defer f.mu.Unlock()
	if f.task == "" {
		return 0
	}
	return c.pos
}

// Close ends Next, and tells the feed that the client has gone.
//
// Where it was the last client, the feed's time without clients begins: the source is read on for
// Linger, or stopped at once where nobody else can come.
func (c *Cursor) Close() {
	f := c.feed.lock()
	if c.closed {
		f.mu.Unlock()
		return
	}
	c.closed = true
	if again := c.stir(); again != nil {
		go again()
	}
	f.remove(c)
	if f.leader == c {
		f.leader = nil
		f.stir()
	}
	var idle *source
	if len(f.cursors) == 0 && !f.gone {
		idle = f.desert()
	}
	if f.source != nil {
		f.source.retry()
	}
	f.mu.Unlock()
	idle.stop(ending.ErrGone)
}

// fail has the cursor end with err behind the entry of number until. The first failure
// counts.
func (c *Cursor) fail(err error, until uint64) {
	if c.err == nil {
		c.err, c.until = err, until
	}
}

// regain is how many times as long as the source was held up for a client it takes until
// that is forgotten: whoever is slow all the time does not make others slow.
const regain = 60

// hold has the source wait for the client.
func (c *Cursor) hold(now time.Time) {
	if c.held.IsZero() {
		c.held = now
		c.spent = max(0, c.spent-now.Sub(c.freed)/regain)
	}
}

// release ends that.
func (c *Cursor) release(now time.Time) {
	c.spent += now.Sub(c.held)
	c.held, c.freed = time.Time{}, now
}

// stir ends a wait. What Await was given is for the caller to call.
func (c *Cursor) stir() (again func()) {
	if !c.waits && !c.closed {
		return nil
	}
	c.waits = false
	if again, c.again = c.again, nil; again != nil {
		return again
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}
