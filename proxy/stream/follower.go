package stream

import "io"

// Live reports whether more may come of the task: a source is read, or can be opened.
func (f *Feed) Live() bool {
	f = f.lock()
	defer f.mu.Unlock()
	return !f.settled && (f.source != nil || f.phase == lost)
}

// Here gives the feed of a task that this process has, whether anything more comes of the
// task or not; nil for none. It asks no logs.
func (h *Hub) Here(task string) *Feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tasks[task]
}

// Newest is the number of the newest entry.
func (f *Feed) Newest() uint64 {
	f = f.lock()
	defer f.mu.Unlock()
	return f.tip()
}

// Follower is something that is told, in order, what a feed gives up of what it keeps.
// The feed is locked meanwhile: it must be quick, and ask the feed nothing.
type Follower interface{ Drop(Entry) }

// Follower gives the feed's, which attach makes when there is none yet.
//
// There is one per feed. The types of followers are their owners' affair: whoever attached one
// knows it.
func (f *Feed) Follower(attach func() Follower) Follower {
	f = f.lock()
	defer f.mu.Unlock()
	if f.follower == nil {
		f.follower = attach()
	}
	return f.follower
}

// End stops the feed's source as if the agent had ended its stream in good order. A later
// feed of the task may go on with this one.
//
// It is for the gateway's own answer to a task that waits for authorization: the agent has
// another stream then.
func (f *Feed) End() {
	f = f.lock()
	s := f.source
	if s != nil {
		f.rests = true
	}
	f.mu.Unlock()
	s.stop(io.EOF)
}
