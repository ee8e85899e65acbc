package stream

import (
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
	reigns  []reign // newest last
	gone    bool    // nobody finds it any more
	joined  bool    // it has had a client
	settled bool    // its newest entry was the last
	rests   bool    // its newest entry lets the agent's stream end
	phase   phase
	over    error // what its source ended with; nil for its orderly end
	cut     bool  // the gateway has closed the agent's stream behind its end

	kept    ring
	bytes   int64
	start   uint64 // number of the newest entry that is not kept any more
	cursors []*Cursor
	leader  *Cursor // was told that the feed is lost
	source  *source

	// Of a feed that is kept in a log as well.
	lease     bool      // this replica holds the task
	logged    bool      // and writes the log
	written   uint64    // number of the newest entry that is there
	appended  time.Time // when it was last written to, or told to be kept
	following bool      // another replica may hold the task
	watched   bool      // somebody looks at what it writes
	marked    bool      // the feed is to be looked after
	renewal   bool      // its lease wants renewal
	release   bool      // its lease is to be given back
	failing   bool      // the state could not be reached
	retrial   *time.Timer

	follower Follower // is told what is dropped; may be nil

	takes bool   // the source will see to one of the clients who are stirred
	next  func() // that one

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
		e.Number = f.start + 1 + uint64(i) //nolint:gosec // within what is kept
		e.Epoch = f.epochOf(e.Number)
	}
	return e
}

// tip is the number of the newest entry.
func (f *Feed) tip() uint64 { return f.start + uint64(f.kept.n) } //nolint:gosec // within what is kept

// Cursor begins behind the entry of number after, 0 for the first. errGap where what
// comes behind it is not kept, or where the feed ends before it.
func (f *Feed) Cursor(after uint64) (*Cursor, error) {
	f = f.lock()
	defer f.mu.Unlock()
	return f.cursor(after)
}

func (f *Feed) cursor(after uint64) (*Cursor, error) {
	if after < f.start || after > f.tip() {
		return nil, errGap
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
	c := &Cursor{feed: f, pos: after, wake: make(chan struct{}, 1), active: time.Now()}
	if f.cursors = append(f.cursors, c); len(f.cursors) == 2 {
		f.company()
	}
	f.joined = true
	f.attend()
	if f.source != nil {
		f.source.retry() // it may have been waiting for a first client
	}
	f.release = f.release && f.phase == ended
	f.watch()
	return c
}

// company begins what is only looked at among several clients: alone, none waits for
// another.
func (f *Feed) company() {
	now := time.Now()
	for _, c := range f.cursors {
		c.active = now
	}
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

// skip makes n the number of the newest entry although those before it are not there.
func (f *Feed) skip(n uint64) {
	f.clear()
	f.start = n
	for _, c := range f.cursors {
		if c.pos < n {
			c.fail(errGap, 0)
		}
	}
}
