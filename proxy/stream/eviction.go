package stream

import (
	"bytes"
	"time"
)

// evictOldest takes the oldest entries out of a task's replay buffer that have no room beside the newest,
// by streams.buffer.events and streams.buffer.bytes. The newest stays, whatever its size.
func (b *replayBuffer) evictOldest() {
	bounds := b.hub.settings().Buffer
	for b.kept.n > 1 && (b.kept.n > bounds.Events || b.bytes > int64(bounds.Bytes)) {
		b.drop()
	}
}

// drop lets go of the oldest entry.
func (b *replayBuffer) drop() {
	if b.follower != nil {
		b.follower.Drop(b.entry(0))
	}
	cost := b.kept.drop()
	b.start++
	b.bytes -= cost
	b.hub.bytes.Add(-cost)
}

// evict takes events out of replay buffers while all feeds together keep too much: what has no client goes
// first, then all but the newest entry of the feed that keeps most. What no client
// has yet stays; its sources wait.
//
// It looks at nothing as long as the total is kept, which is a single load.
func (h *Hub) evict() {
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
