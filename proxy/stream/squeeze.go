package stream

import (
	"bytes"
	"time"
)

// squeeze evicts events while all feeds together keep too much: what has no client goes
// first, then all but the newest entry of the feed that keeps most. What no client
// has yet stays; its sources wait.
//
// It looks at nothing as long as the total is kept, which is a single load.
func (h *Hub) squeeze() {
	for h.bytes.Load() > int64(h.settings().Buffer.Total) {
		h.mu.Lock()
		f := h.idle.first
		if f != nil {
			h.idle.leave(f)
		}
		h.mu.Unlock()
		if f != nil {
			f.shrink(0)
			continue
		}
		now := time.Now().UnixNano()
		if now-h.barren.Load() < int64(barrenTime) {
			return
		}
		if f = h.largest(); f == nil || !f.shrink(1) {
			h.barren.Store(now)
			return
		}
	}
}

// Borrow counts n bytes that the gateway has for one client only, a task as it is, as
// kept, for as long as that client takes to read them. It is ErrFull where there is no
// room for them beside what clients still need, or where who asks has borrowed more than is
// left for others; otherwise Return is owed the same n.
func (h *Hub) Borrow(who string, n int64) error {
	h.bytes.Add(n)
	h.squeeze()
	left := int64(h.settings().Buffer.Total) - h.bytes.Load()
	if left < 0 || !h.borrowers.Take(who, n, left) {
		h.bytes.Add(-n)
		return ErrFull
	}
	return nil
}

// Return gives back what Borrow has taken.
func (h *Hub) Return(who string, n int64) {
	h.borrowers.Give(who, n)
	h.bytes.Add(-n)
}

// Kept is how many bytes are kept of all streams, and how many may be.
func (h *Hub) Kept() (bytes, limit int64) {
	return h.bytes.Load(), int64(h.settings().Buffer.Total)
}

// barrenTime is how long it is not looked for the largest feed again, which takes a
// look at all, once that has come to nothing.
const barrenTime = 100 * time.Millisecond

// largest is the feed that keeps most, of those that can do with less.
func (h *Hub) largest() (largest *Feed) {
	h.mu.Lock()
	feeds := make([]*Feed, 0, len(h.tasks)+len(h.sources))
	for _, f := range h.tasks {
		feeds = append(feeds, f)
	}
	for s := range h.sources {
		feeds = append(feeds, s.feed)
	}
	h.mu.Unlock()
	var most int64
	for _, f := range feeds {
		f = f.lock()
		if f.bytes > most && f.kept.n > 1 && f.fastest() == f.tip() && f.shared.needless() {
			largest, most = f, f.bytes
		}
		f.mu.Unlock()
	}
	return largest
}

// needless reports whether the oldest entry is not wanted for a log, which would have a
// hole without it.
func (l *sharedLog) needless() bool { return !l.logged || l.feed.start < l.written }

// shrink lets go of all but the newest entries, and tells whether that was any. It is
// too late where a client has come to a feed that had none.
//
// The newest entry's data is copied, so that it does not keep the whole chunk of memory that it
// shared with others.
func (f *Feed) shrink(keep int) bool {
	f = f.lock()
	defer f.mu.Unlock()
	before := f.kept.n
	for f.kept.n > keep && f.shared.needless() && f.fastest() == f.tip() && (keep > 0 || len(f.cursors) == 0) {
		f.drop()
	}
	if f.kept.n == 1 && f.kept.n < before {
		newest := f.kept.at(0)
		newest.Data = bytes.Clone(newest.Data) // and not what it shared its memory with
	}
	return f.kept.n < before
}
