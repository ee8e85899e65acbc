package openstreams

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Event is one event of a stream as its client was given it, for somebody who watches.
type Event struct {
	Time  time.Time
	Kind  string // "task", "status", "artifact", "message", "error", or "other" for what extensions stream
	State string // of the task, under its 1.0 name; "" where the event names none
	ID    string // with which a client resumes behind the event; "" for none
	Bytes int    // as the client was given them
	// Content is JSON in the agent's version, redacted. It is "" unless it may be shown. Cut says that it is
	// only the beginning, and Fault why there is none although there should be.
	Content string
	Cut     bool
	Fault   string
}

// overhead is what an event costs beside its texts, so that a watcher's buffer bounds its memory also
// where nothing has content.
const overhead = 128

func (e *Event) size() int {
	return overhead + len(e.State) + len(e.ID) + len(e.Content) + len(e.Fault)
}

// Watcher is somebody who watches one stream. What the stream's client is given is added by the
// stream's goroutine, which waits for no watcher; what a watcher has not taken in time is dropped,
// the oldest first.
type Watcher struct {
	stream  *Stream
	room    int
	content bool // events are to have their content
	wake    chan struct{}

	mu      sync.Mutex
	events  []Event
	size    int
	dropped int
	end     string // why there is no more; "" while the stream is open
}

// Follow has somebody watch the stream that answers the request of this id, from now on; nil where there is
// none. room is how many bytes wait for the watcher at most. With content, events have theirs where
// it may be shown.
func (s *Streams) Follow(id string, room int, content bool) *Watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A stream that is in the list cannot be over: it leaves the list before Over is called.
	for st := range s.open {
		if st.id == id {
			w := &Watcher{stream: st, room: room, content: content, wake: make(chan struct{}, 1)}
			st.watched(func(all []*Watcher) []*Watcher { return append(all, w) })
			return w
		}
	}
	return nil
}

// Wake has something once there is more to take.
func (w *Watcher) Wake() <-chan struct{} { return w.wake }

// Take takes what there is, the oldest first: how many events were dropped before it, and why there is no
// more behind it, "" while the stream is open.
func (w *Watcher) Take() (dropped int, events []Event, end string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dropped, events = w.dropped, w.events
	w.dropped, w.events, w.size = 0, nil, 0
	return dropped, events, w.end
}

// Leave has them watch no more.
func (w *Watcher) Leave() {
	w.stream.watched(func(all []*Watcher) []*Watcher {
		return slices.DeleteFunc(all, func(o *Watcher) bool { return o == w })
	})
}

// add has an event wait. A single one takes a quarter of the room at most, so that a watcher who is a
// little late still has some of them.
func (w *Watcher) add(e Event) {
	if !w.content {
		e.Content, e.Cut, e.Fault = "", false, ""
	}
	if most := w.room / 4; len(e.Content) > most {
		e.Content, e.Cut = strings.ToValidUTF8(e.Content[:most], ""), true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	w.size += e.size()
	for w.size > w.room && len(w.events) > 1 {
		w.size -= w.events[0].size()
		w.events = w.events[1:]
		w.dropped++
	}
	w.poke()
}

func (w *Watcher) over(end string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = end
	w.poke()
}

// poke wakes the watcher, who need not be waiting: one poke that is pending says it all.
func (w *Watcher) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// watched changes who watches. The list is copied, as the stream's goroutine reads it without a lock.
func (st *Stream) watched(change func([]*Watcher) []*Watcher) {
	for {
		old := st.watchers.Load()
		var all []*Watcher
		if old != nil {
			all = slices.Clone(*old)
		}
		next := &all
		if all = change(all); len(all) == 0 {
			next = nil // so that the stream finds out with one look that nobody watches
		}
		if st.watchers.CompareAndSwap(old, next) {
			return
		}
	}
}

// Watched says whether somebody watches the stream, and whether somebody of them is to have content. It is asked
// for every event, and costs one load where nobody does.
func (st *Stream) Watched() (watched, content bool) {
	all := st.watchers.Load()
	if all == nil {
		return false, false
	}
	return true, slices.ContainsFunc(*all, func(w *Watcher) bool { return w.content })
}

// Show gives an event to those who watch.
func (st *Stream) Show(e Event) {
	if all := st.watchers.Load(); all != nil {
		for _, w := range *all {
			w.add(e)
		}
	}
}

// Over tells those who watch why the stream has ended. It is called once nobody can join them, and may
// be called again, which does nothing.
func (st *Stream) Over(end string) {
	if all := st.watchers.Swap(nil); all != nil {
		for _, w := range *all {
			w.over(cmp.Or(end, "broken off"))
		}
	}
}
