package stream

// replayBuffer is the newest of a task's events, in order, as far as there is room for them.
//
// A client that comes back with Last-Event-ID is given events of it. The oldest are evicted where the
// newest have no room beside them, and where all feeds together keep too much (eviction.go).
//
// Entries are numbered without a gap: start+1 is the oldest that is kept, tip the newest. The
// feed's mutex guards it.
type replayBuffer struct {
	hub *Hub

	kept     ring
	bytes    int64    // of what is kept
	start    uint64   // number of the newest entry that is not kept any more
	reigns   []reign  // newest last; none in a feed that is bound to no task
	settled  bool     // the newest entry was the last
	rests    bool     // the newest entry lets the agent's stream end
	follower Follower // is told what is dropped; may be nil
}

// entry is the i-th that is kept.
func (b *replayBuffer) entry(i int) Entry {
	e := b.kept.at(i).Entry
	if len(b.reigns) > 0 {
		e.Number = b.start + 1 + uint64(i) //nolint:gosec // within what is kept
		e.Epoch = b.epochOf(e.Number)
	}
	return e
}

// tip is the number of the newest entry.
func (b *replayBuffer) tip() uint64 { return b.start + uint64(b.kept.n) } //nolint:gosec // within what is kept

// add keeps an entry, and lets go of the oldest that have no room beside it.
//
// A single entry is kept whatever its size, as a client has to be given it.
func (b *replayBuffer) add(it item) {
	b.kept.push(it)
	b.bytes += it.cost
	b.hub.bytes.Add(it.cost)
	b.evictOldest()
	b.settled, b.rests = it.Last, it.Rest
}

// retract takes the newest entry back, as if it had never been.
func (b *replayBuffer) retract() {
	cost := b.kept.retract()
	b.bytes -= cost
	b.hub.bytes.Add(-cost)
	if b.settled, b.rests = false, false; b.kept.n > 0 {
		newest := b.kept.at(b.kept.n - 1)
		b.settled, b.rests = newest.Last, newest.Rest
	}
}

// clear lets go of all entries; the follower is told of each.
func (b *replayBuffer) clear() {
	for b.kept.n > 0 {
		b.drop()
	}
}
