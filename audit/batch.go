package audit

import (
	"sync/atomic"
)

// batch is records that are written by one system call. Callers append under
// queue.mu until one of them takes it to write.
// With durability write a batch is one write(2), with durability sync one write and one fsync.
type batch struct {
	members []byte // of all records, one after the other
	ends    []int  // where each one ends in members
	err     error  // the outcome; set before over

	// wait is made by the first caller that has to wait. One waiter gets a token from it and
	// becomes the writer of the batch. For the others it is closed: when the batch is over, or
	// when they are sent away because the disk hangs. There is another one then. One channel
	// for all of this costs a waiter less than three to select from. Under queue.mu.
	wait chan struct{}
	over atomic.Bool // it was written, or could not be
	sent bool        // waiters were sent away; under queue.mu
}

// add appends the members of one record. They get their number and their hash when the batch is written,
// since only then it is known which record is before them.
func (b *batch) add(members []byte) {
	b.members = append(b.members, members...)
	b.ends = append(b.ends, len(b.members))
}

// record returns the members of record i.
func (b *batch) record(i int) []byte {
	if i == 0 {
		return b.members[:b.ends[0]]
	}
	return b.members[b.ends[i-1]:b.ends[i]]
}

// maxSpare bounds the buffer that is kept after a burst.
const maxSpare = 1 << 20

// reuse returns an empty batch with the buffers of b, which is written. It is b
// itself unless waiters have still to read its outcome.
func (b *batch) reuse() *batch {
	if cap(b.members) > maxSpare {
		return nil
	}
	// The buffers are handed on, since a batch is made for each write, and would be garbage
	// thousands of times per second.
	fresh := b
	if b.wait != nil {
		fresh = new(batch)
	}
	fresh.members, fresh.ends, fresh.err = b.members[:0], b.ends[:0], nil
	return fresh
}
