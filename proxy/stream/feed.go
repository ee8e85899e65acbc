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
	form string

	mu sync.Mutex
	clients

	to     *Feed // the feed that this one has become a part of
	task   string
	gone   bool // nobody finds it any more
	cut    bool // the gateway has closed the agent's stream behind its end
	phase  phase
	over   error // what its source ended with; nil for its orderly end
	source *source
	shared sharedLog

	timer *time.Timer // while there are no clients
	due   time.Time   // when it means something

	inLine         bool // the rest is guarded by the hub's mutex
	before, behind *Feed
}

// newFeed makes a feed without a source, that is bound to no task.
func newFeed(h *Hub) *Feed {
	f := new(Feed)
	f.hub, f.shared.feed = h, f
	return f
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

// join adds a client, which ends the feed's time without clients.
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
	f.shared.release = f.shared.release && f.phase == ended
	f.shared.watch()
	return c
}

// push adds an entry, and has clients take it.
//
// Without clients it joins the line of feeds that give up what they keep; without a task either
// it keeps nothing.
func (f *Feed) push(it item) {
	f.add(it)
	f.arrived()
	f.stir()
	switch {
	case len(f.cursors) > 0:
	case f.task != "":
		f.wait()
	case f.stays() && f.joined:
		f.clear() // nobody else can come
	}
	if f.shared.logged {
		f.shared.mark()
	}
}
