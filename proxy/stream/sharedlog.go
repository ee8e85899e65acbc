package stream

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	batchEntries = 64
	batchBytes   = 1 << 20
	clerks       = 8               // that write logs at once
	storeTimeout = 5 * time.Second // of one look at the state
	storePause   = time.Second     // after one that failed
	logKept      = 24 * time.Hour  // of a task that nobody says anything about
	closeTimeout = 3 * time.Second // to write what is left when the hub is closed
)

// sharedLog is a feed's log in the state, where other replicas and the next process find it,
// and the lease that says which replica writes it. The feed's mutex guards it.
type sharedLog struct {
	feed *Feed

	written  uint64    // number of the newest entry that is there
	appended time.Time // when it was last written to, or told to be kept
	retrial  *time.Timer

	lease     bool // this replica holds the task
	logged    bool // and writes the log
	following bool // another replica may hold the task
	watched   bool // somebody looks at what it writes
	marked    bool // the feed is to be looked after
	renewal   bool // its lease wants renewal
	release   bool // its lease is to be given back
	failing   bool // the state could not be reached
}

// mark has the feed, which is locked, looked after: its log written, its lease renewed
// or given back.
//
// Eight clerks at most work at once; a feed stands in their queue once at a time.
func (l *sharedLog) mark() {
	f := l.feed
	if !l.lease || l.marked {
		return
	}
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	l.marked = true
	h.work = append(h.work, f)
	if h.clerks < clerks {
		h.clerks++
		h.wait.Add(1)
		go h.clerk()
	}
}

// clerk looks after feeds until none is left that needs it.
func (h *Hub) clerk() {
	defer h.wait.Done()
	for {
		h.mu.Lock()
		if len(h.work) == 0 || h.over {
			h.clerks--
			if h.work = nil; h.clerks == 0 && h.left != nil {
				close(h.left)
				h.left = nil
			}
			h.mu.Unlock()
			return
		}
		f := h.work[0]
		h.work[0], h.work = nil, h.work[1:]
		h.mu.Unlock()
		h.tend(f)
	}
}

// tend writes what one feed has to write, and keeps or gives back its lease. After an error it is
// tried again in a second; the log line comes once per outage.
func (h *Hub) tend(f *Feed) {
	ctx, cancel := context.WithTimeout(h.ctx, storeTimeout)
	defer cancel()
	more, err := f.shared.write(ctx)
	for more && err == nil {
		more, err = f.shared.write(ctx)
	}
	if err == nil {
		err = h.keepLease(ctx, f)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shared.marked = false
	f.shared.failing = f.shared.failing && err != nil
	switch {
	case err != nil && h.ctx.Err() == nil:
		if !f.shared.failing {
			h.log.Warn("a task's stream cannot be kept in the state now", "task", f.task, "error", err)
		}
		f.shared.failing = true
		f.shared.again()
	case err == nil && (f.shared.logged && f.shared.written < f.tip() || f.shared.release):
		f.shared.mark()
	}
}

// again has the feed looked after a little later.
func (l *sharedLog) again() {
	f := l.feed
	l.marked = true
	l.retrial = time.AfterFunc(storePause, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		l.marked = false
		l.mark()
	})
}

// write adds what the log does not have yet, as far as one batch goes, and tells
// whether there is more. Without any it has the log kept, where that is due.
//
// The append names the number it expects to continue (after), by which the state refuses a second
// writer with ErrMoved.
func (l *sharedLog) write(ctx context.Context) (more bool, err error) {
	f := l.feed
	f.mu.Lock()
	if !l.logged || l.written >= f.tip() && !l.fades() {
		f.mu.Unlock()
		return false, nil
	}
	if l.written < f.start {
		l.abandon()
		return false, nil
	}
	after, batch := l.written, l.unwritten()
	c := f.hub.settings()
	keep := state.Bound{Entries: c.Buffer.Events, Bytes: int64(c.Buffer.Bytes), TTL: logKept}
	if more = after+uint64(len(batch)) < f.tip(); f.settled && !more {
		keep.TTL = c.Retain.Std()
	}
	name := logName(f.task)
	f.mu.Unlock()
	err = f.hub.logs.Append(ctx, name, after, batch, keep)
	if errors.Is(err, state.ErrMoved) {
		return false, l.moved(ctx, name, after, batch)
	}
	if err == nil {
		f.mu.Lock()
		l.written, l.appended = max(l.written, after+uint64(len(batch))), time.Now()
		f.mu.Unlock()
	}
	return more, err
}

// fades reports whether the log has to be kept for longer: the stream is open, and has had
// nothing to say for a good part of the time after which the state forgets it.
func (l *sharedLog) fades() bool {
	f := l.feed
	return l.written > 0 && !f.settled && time.Since(l.appended) > logKept/4
}

// unwritten are the next entries for the log.
func (l *sharedLog) unwritten() (batch [][]byte) {
	f := l.feed
	size := 0
	for i := int(l.written - f.start); i < f.kept.n && len(batch) < batchEntries && size < batchBytes; i++ { //nolint:gosec // within what is kept
		e := appendRecord(nil, record{f.kept.at(i).Entry, f.epochOf(f.start + 1 + uint64(i)), f.form}) //nolint:gosec // within what is kept
		batch, size = append(batch, e), size+len(e)
	}
	return batch
}

// moved finds out why the log ends elsewhere: with what an earlier attempt has written
// although it came to an error, or with somebody else's. A log that was forgotten cannot
// go on, since its numbers would begin anew.
//
// An append that timed out may have been done: the same bytes at the same place are this
// replica's own.
func (l *sharedLog) moved(ctx context.Context, name string, after uint64, batch [][]byte) error {
	f := l.feed
	tail, err := f.hub.logs.Read(ctx, name, after, len(batch))
	if err != nil {
		return err
	}
	n := 0
	for tail.From == after+1 && n < min(len(tail.Entries), len(batch)) && bytes.Equal(tail.Entries[n], batch[n]) {
		n++
	}
	f.mu.Lock()
	switch {
	case tail.Last == 0:
		l.abandon()
	case n > 0 && tail.Last == after+uint64(n):
		l.written = max(l.written, tail.Last)
		f.mu.Unlock()
	default:
		l.fence()
	}
	return nil
}

// abandon has a feed go on without its log. The feed is locked, and unlocked behind it.
func (l *sharedLog) abandon() {
	f := l.feed
	l.logged = false
	f.mu.Unlock()
	f.hub.log.Warn("a task's stream is kept in memory only: its log has a hole", "task", f.task)
}

// settle writes what is left and gives all leases back, when the hub is closed.
//
// It waits for closeTimeout at most, as the process is about to end.
func (h *Hub) settle() {
	h.mu.Lock()
	feeds := make([]*Feed, 0, len(h.leases))
	for f := range h.leases {
		feeds = append(feeds, f)
	}
	h.mu.Unlock()
	for _, f := range feeds {
		f.mu.Lock()
		f.shared.release = true
		f.shared.mark()
		f.mu.Unlock()
	}
	h.mu.Lock()
	var idle chan struct{}
	if h.clerks > 0 {
		idle = make(chan struct{})
		h.left = idle
	}
	h.mu.Unlock()
	if idle != nil {
		late := time.NewTimer(closeTimeout)
		defer late.Stop()
		select {
		case <-idle:
		case <-late.C:
		}
	}
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.cancel()
}
