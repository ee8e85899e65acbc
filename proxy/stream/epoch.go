package stream

import "crypto/rand"

// An epoch begins with a log, and again with every replica that goes on with the log in
// another's place: clients of the one before may have had entries that were not written
// any more, whose numbers others have now. Its first half is the same for all of a log.
type epoch = [8]byte

const epochLog = 4

// reign is an epoch, and the number of its first entry.
type reign struct {
	from  uint64
	epoch epoch
}

// reign makes the entry of a number, and what comes behind it, of an epoch.
func (b *replayBuffer) reign(from uint64, e epoch) {
	n := len(b.reigns)
	for n > 0 && b.reigns[n-1].from >= from {
		n-- // what was taken back
	}
	if b.reigns = b.reigns[:n]; n == 0 || b.reigns[n-1].epoch != e {
		b.reigns = append(b.reigns, reign{from, e})
	}
	for len(b.reigns) > 1 && b.reigns[1].from <= b.start {
		b.reigns = b.reigns[1:]
	}
}

// begins is the first epoch of a log.
func (b *replayBuffer) begins() {
	var e epoch
	_, _ = rand.Read(e[:]) // it never fails
	b.reign(1, e)
}

// succeeds is the epoch of a replica that goes on with a log.
func (b *replayBuffer) succeeds() {
	next := b.tip() + 1
	e := b.epochOf(next)
	_, _ = rand.Read(e[epochLog:]) // it never fails
	b.reign(next, e)
}

// epochOf is the epoch of an entry; of one that is not kept any more, of the first that is.
func (b *replayBuffer) epochOf(number uint64) epoch {
	for i := len(b.reigns) - 1; i >= 0; i-- {
		if r := b.reigns[i]; r.from <= number || i == 0 {
			return r.epoch
		}
	}
	return epoch{}
}

// isOther reports whether an entry is of another log than those that the feed has.
//
// The first half of an epoch is the log's, the second the replica's turn.
func (b *replayBuffer) isOther(e epoch) bool {
	mine := b.epochOf(b.tip())
	return [epochLog]byte(e[:]) != [epochLog]byte(mine[:])
}

// Epoch is that of the entry of a number. It is zero in a feed that is bound to no task.
func (f *Feed) Epoch(number uint64) [8]byte {
	f = f.lock()
	defer f.mu.Unlock()
	return f.epochOf(number)
}

// Since is a cursor for a client that has had an entry, by its epoch and number. errGap
// where the feed's entry of that number is another, too.
//
// The epoch is what keeps a client of a replica that died from being given events that took the
// numbers of those it has had.
func (f *Feed) Since(e [8]byte, number uint64) (*Cursor, error) {
	f = f.lock()
	defer f.mu.Unlock()
	if f.epochOf(number) != e {
		return nil, errGap
	}
	return f.cursor(number)
}
