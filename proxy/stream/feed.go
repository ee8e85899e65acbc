package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"time"
)

// phase is where a feed stands while it has no source.
type phase uint8

const (
	lost   phase = iota // somebody has to open another source
	rested              // the task waits for its caller
	ended               // nothing comes any more
)

// Feed is the events of one task as its agent sent them, in order: read once, kept in
// a bounded buffer, and followed by any number of clients.
//
// Clients say where they are by number. As long as a feed is bound to no task, its
// entries are counted as well, but nobody is told.
type Feed struct {
	hub  *Hub
	form string

	mu      sync.Mutex
	to      *Feed // the feed that this one has become a part of
	task    string
	epoch   [8]byte
	gone    bool // nobody finds it any more
	joined  bool // it has had a client
	settled bool // its newest entry was the last
	rests   bool // its newest entry lets the agent's stream end
	phase   phase
	over    error // what its source ended with; nil for its orderly end

	kept    ring
	bytes   int64
	start   uint64 // number of the newest entry that is not kept any more
	cursors []*Cursor
	leader  *Cursor // was told that the feed is lost
	source  *source

	timer *time.Timer // while there are no clients
	due   time.Time   // when it means something

	inLine         bool // the rest is guarded by the hub's mutex
	before, behind *Feed
}

// lock gives the feed that f has become a part of, or f, locked.
func (f *Feed) lock() *Feed {
	for {
		f.mu.Lock()
		if f.to == nil {
			return f
		}
		to := f.to
		f.mu.Unlock()
		f = to
	}
}

// Form is how the agent speaks in this feed.
func (f *Feed) Form() string { return f.form }

// Epoch tells the numbers of this feed from those of an earlier one of the same task. It
// is zero in a feed that is bound to no task.
func (f *Feed) Epoch() [8]byte {
	f = f.lock()
	defer f.mu.Unlock()
	return f.epoch
}

// Entries gives what is kept, and the number of the first of it.
func (f *Feed) Entries() (from uint64, entries []Entry) {
	f = f.lock()
	defer f.mu.Unlock()
	entries = make([]Entry, f.kept.n)
	for i := range entries {
		entries[i] = f.entry(i)
	}
	return f.start + 1, entries
}

// entry is the i-th that is kept.
func (f *Feed) entry(i int) Entry {
	e := f.kept.at(i).Entry
	if f.task != "" {
		e.Number = f.start + 1 + uint64(i)
	}
	return e
}

// tip is the number of the newest entry.
func (f *Feed) tip() uint64 { return f.start + uint64(f.kept.n) }

// Cursor begins behind the entry of number after, 0 for the first. ErrGap where what
// comes behind it is not kept, or where the feed ends before it.
func (f *Feed) Cursor(after uint64) (*Cursor, error) {
	f = f.lock()
	defer f.mu.Unlock()
	if after < f.start || after > f.tip() {
		return nil, ErrGap
	}
	return f.join(after), nil
}

// Tip is a cursor that is given only what is new.
func (f *Feed) Tip() *Cursor {
	f = f.lock()
	defer f.mu.Unlock()
	return f.join(f.tip())
}

func (f *Feed) join(after uint64) *Cursor {
	c := &Cursor{feed: f, pos: after, wake: make(chan struct{}, 1)}
	f.cursors = append(f.cursors, c)
	f.joined = true
	f.attend()
	if f.source != nil {
		f.source.retry() // it may have been waiting for a first client
	}
	return c
}

// attend ends what was begun when there were no clients.
func (f *Feed) attend() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	h := f.hub
	h.mu.Lock()
	h.idle.leave(f)
	h.mu.Unlock()
}

// Bind makes f the feed of a task, so that others can find and join it; task is any
// bytes that name the task and its agent. Its entries have numbers from then on. Where
// the task has a feed without a source already, f becomes a part of it and goes on with
// its numbers. False: the task has a feed with a source, or has ended; f goes on as
// before.
func (f *Feed) Bind(_ context.Context, task string) (bool, error) {
	for {
		old, done := f.claim(task)
		if done {
			return old == nil, nil
		}
		old.mu.Lock()
		if old.gone {
			old.mu.Unlock()
			continue
		}
		bound := old.source == nil && old.phase != ended && old.form == f.form && old.adopt(f)
		old.mu.Unlock()
		return bound, nil
	}
}

// claim binds a feed to a task that has none. Else it gives the task's feed; done says
// that there is nothing left to do.
func (f *Feed) claim(task string) (old *Feed, done bool) {
	f = f.lock()
	defer f.mu.Unlock()
	if f.task != "" {
		if f.task != task {
			return f, true
		}
		return nil, true
	}
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return f, true
	}
	if old = h.tasks[task]; old != nil {
		return old, false
	}
	h.tasks[task], f.task = f, task
	_, _ = rand.Read(f.epoch[:]) // it never fails
	f.reopen()
	return nil, true
}

// reopen looks again at how the source ended, now that the feed is a task's: others
// may be opened.
func (f *Feed) reopen() {
	switch {
	case f.phase != ended || f.settled:
	case f.over == nil && f.rests:
		f.phase = rested
	default:
		f.phase = lost
	}
}

// adopt makes part a part of f. Both are locked by then; false when part is not free.
func (f *Feed) adopt(part *Feed) bool {
	part.mu.Lock()
	defer part.mu.Unlock()
	if part.to != nil || part.task != "" {
		return false
	}
	shift := f.tip()
	if part.start > 0 {
		f.skip(shift + part.start)
	}
	for part.kept.n > 0 {
		it := *part.kept.at(0)
		part.drop()
		f.push(it)
	}
	for _, c := range part.cursors {
		c.pos, c.until = c.pos+shift, c.until+shift
	}
	f.cursors = append(f.cursors, part.cursors...)
	f.source, f.phase, f.over, f.leader = part.source, part.phase, part.over, nil
	part.to, part.source, part.cursors = f, nil, nil
	part.attend()
	if f.reopen(); len(f.cursors) > 0 {
		f.joined = true
		f.attend()
	}
	f.stir()
	return true
}

// skip makes n the number of the newest entry although those before it are not there.
func (f *Feed) skip(n uint64) {
	f.clear()
	f.start = n
	for _, c := range f.cursors {
		if c.pos < n {
			c.fail(ErrGap, 0)
		}
	}
}

// Resume gives a lost feed another source. False: it is not lost any more, or the source
// speaks differently from the one before; the source is closed then.
func (f *Feed) Resume(o Opened) bool {
	f = f.lock()
	if f.source != nil || f.phase != lost || o.Form != f.form {
		f.mu.Unlock()
		newSource(f, o).stop(ErrGone)
		return false
	}
	f.leader = nil
	s := f.begin(o)
	var idle *source
	if len(f.cursors) == 0 {
		idle = f.desert()
	}
	f.mu.Unlock()
	s.start()
	idle.stop(ErrGone)
	return true
}

// Fail tells the clients of a lost feed that it stays lost; io.EOF lets them end
// well. Who comes after that is asked again for another source.
func (f *Feed) Fail(err error) {
	f = f.lock()
	defer f.mu.Unlock()
	if f.source != nil || f.phase != lost {
		return
	}
	f.leader = nil
	f.fail(err)
	f.stir()
}

// fail has all clients end with err once they have what is there.
func (f *Feed) fail(err error) {
	for _, c := range f.cursors {
		c.fail(err, f.tip())
	}
}

// stir wakes all clients that wait.
func (f *Feed) stir() {
	for _, c := range f.cursors {
		c.stir()
	}
}

// cease says what becomes of a feed whose source has ended with err.
func (f *Feed) cease(err error) *source {
	f.source, f.leader, f.over = nil, nil, err
	f.phase = lost
	if errors.Is(err, io.EOF) {
		f.over = nil
	}
	switch {
	case f.settled:
		f.phase, f.over = ended, nil
	case refused(err):
		f.fail(err)
	case f.over == nil && f.rests:
		f.phase = rested
	}
	if f.task == "" {
		f.phase = ended
	}
	f.stir()
	if len(f.cursors) == 0 && f.joined {
		return f.desert()
	}
	return nil
}

// refused reports whether another source would not do better, so that clients have to
// be told.
func refused(err error) bool {
	return !errors.Is(err, io.EOF) && !errors.Is(err, ErrBroken) && !errors.Is(err, ErrIdle) && !errors.Is(err, ErrGone)
}
