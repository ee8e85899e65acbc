package audit

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// queue is the records that are on their way to a file, and who takes them there: under mu.
type queue struct {
	mu      sync.Mutex
	pending *batch    // records nobody is writing yet
	flying  *batch    // records that are being written
	spare   *batch    // emptied, to be pending next
	writing bool      // a caller is the writer
	began   time.Time // when it began with its batch
	alone   int       // batches in a row that were one record
	failing error     // of the last batch; nil when it was written
}

// batch is records that are written by one system call. Callers append under
// Log.mu until one of them takes it to write.
type batch struct {
	members []byte // of all records, one after the other
	ends    []int  // where each one ends in members
	err     error  // the outcome; set before over

	// wait is made by the first caller that has to wait. One waiter gets a token from it and
	// becomes the writer of the batch. For the others it is closed: when the batch is over, or
	// when they are sent away because the disk hangs. There is another one then. One channel
	// for all of this costs a waiter less than three to select from. Under Log.mu.
	wait chan struct{}
	over atomic.Bool // it was written, or could not be
	sent bool        // waiters were sent away; under Log.mu
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
	fresh := b
	if b.wait != nil {
		fresh = new(batch)
	}
	fresh.members, fresh.ends, fresh.err = b.members[:0], b.ends[:0], nil
	return fresh
}

// commit has a record written and returns when it counts. Of the callers that
// come while a batch is being written, the next batch's first free one writes
// for all of them: a lone caller never waits for another goroutine, and many
// share a write (and with durability sync an fsync).
func (l *Log) commit(members []byte, now time.Time) error {
	l.mu.Lock()
	b := l.pending
	if l.writing && (now.Sub(l.began) > l.disk.patience || b.sent) {
		l.mu.Unlock()
		return ErrStalled
	}
	b.add(members)
	if l.writing {
		if b.wait == nil {
			b.wait = make(chan struct{}, 1)
		}
		wait := b.wait
		l.mu.Unlock()
		if _, turn := <-wait; !turn {
			if b.over.Load() {
				return b.err
			}
			go l.standIn(b)
			return ErrStalled
		}
	} else {
		l.writing, l.began = true, now
		yield := l.company()
		l.mu.Unlock()
		if yield {
			runtime.Gosched() // calls that are about to come may share the write: a quarter less CPU under load
		}
	}
	return l.lead(b)
}

// After aloneAfter batches of one record, during which nobody else came, a writer waits for
// nobody any more, but for one in aloneTry, which finds out whether there are others again.
// On one processor nobody comes while a batch is written.
const (
	aloneAfter = 8
	aloneTry   = 256
)

// company reports whether others may come soon. To give way to them where there are none
// may wake an idle processor up for nothing, which costs as much as two calls. Under mu.
func (l *Log) company() bool { return l.alone < aloneAfter || l.alone%aloneTry == 0 }

// lead writes the pending batch, which is b.
func (l *Log) lead(b *batch) error {
	l.mu.Lock()
	l.take()
	l.flying = b
	began := l.began
	l.mu.Unlock()

	err := l.write(b, began)
	l.handOver(b, err)
	return err
}

// standIn waits in the place of a caller who was sent away: its record is among others,
// and its turn may come to write them. What nobody waits for is written all the same.
func (l *Log) standIn(b *batch) {
	l.mu.Lock()
	wait := b.wait
	l.mu.Unlock()
	if _, turn := <-wait; turn {
		_ = l.lead(b)
	}
}

// sendAway refuses those who wait for a disk that hangs. Who comes later does not wait.
func (l *Log) sendAway() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writing || l.disk.now().Sub(l.began) <= l.disk.patience {
		return
	}
	for _, b := range []*batch{l.flying, l.pending} {
		if b != nil && b.wait != nil && !b.sent {
			close(b.wait)
			b.wait, b.sent = make(chan struct{}, 1), true
		}
	}
}

// take puts an empty batch in the place of the pending one, which its caller
// now owns. Under mu.
func (l *Log) take() {
	l.pending, l.spare = l.spare, nil
	if l.pending == nil {
		l.pending = new(batch)
	}
}

// handOver makes a waiter of the next batch its writer, if there is one, and
// tells those of b its outcome.
func (l *Log) handOver(b *batch, err error) {
	b.err = err
	l.mu.Lock()
	company := len(b.ends) > 1 || l.pending.wait != nil
	wait := b.wait
	if wait != nil {
		b.over.Store(true)
	}
	spare := b.reuse()
	l.flying = nil
	if l.alone++; company {
		l.alone = 0
	}
	changed := (l.failing == nil) != (err == nil)
	l.failing = err
	if l.spare == nil {
		l.spare = spare
	}
	if next := l.pending; next.wait != nil {
		next.wait <- struct{}{}
		l.began = l.disk.now()
	} else {
		l.writing = false
	}
	l.mu.Unlock()
	if wait != nil {
		close(wait)
	}
	if changed {
		l.tell(err)
	}
}

// tell logs the beginning and the end of a failure, not every refused call.
func (l *Log) tell(err error) {
	if err != nil {
		l.logger.Error("audit records cannot be written", "dir", l.config.Dir, "error", err)
		return
	}
	l.logger.Info("audit records are written again", "dir", l.config.Dir)
}
