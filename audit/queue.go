package audit

import (
	"runtime"
	"sync"
	"time"
)

// queue is the records that are on their way to a file, and who takes them there: under mu.
// The first caller that finds nobody writing becomes the writer of its own batch; those who come
// meanwhile append to the next batch, and one of them is woken to write that when the first is
// done. No goroutine of the log takes part, so that a lone call pays for no switch between
// goroutines.
type queue struct {
	clock   disk                                  // its clock, and for how long a write may take
	hand    func(b *batch, began time.Time) error // writes a batch
	changed func(err error)                       // told when writing begins to fail, and when it works again

	mu      sync.Mutex
	pending *batch    // records nobody is writing yet
	flying  *batch    // records that are being written
	spare   *batch    // emptied, to be pending next
	writing bool      // a caller is the writer
	began   time.Time // when it began with its batch
	alone   int       // batches in a row that were one record
	failing error     // of the last batch; nil when it was written
}

// commit has a record written and returns when it counts. Of the callers that
// come while a batch is being written, the next batch's first free one writes
// for all of them: a lone caller never waits for another goroutine, and many
// share a write (and with durability sync an fsync).
// It returns errStalled without having queued anything when the writer hangs already, and after
// having queued when it begins to hang: the record may then still be written, which is why an
// intent whose call was refused can be in the log.
func (q *queue) commit(members []byte, now time.Time) error {
	q.mu.Lock()
	b := q.pending
	if q.writing && (now.Sub(q.began) > q.clock.patience || b.sent) {
		q.mu.Unlock()
		return errStalled
	}
	b.add(members)
	if q.writing {
		if b.wait == nil {
			b.wait = make(chan struct{}, 1)
		}
		wait := b.wait
		q.mu.Unlock()
		if _, turn := <-wait; !turn {
			if b.over.Load() {
				return b.err
			}
			go q.standIn(b)
			return errStalled
		}
	} else {
		q.writing, q.began = true, now
		yield := q.company()
		q.mu.Unlock()
		if yield {
			runtime.Gosched() // calls that are about to come may share the write: a quarter less CPU under load
		}
	}
	return q.lead(b)
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
func (q *queue) company() bool { return q.alone < aloneAfter || q.alone%aloneTry == 0 }

// lead writes the pending batch, which is b.
// The mutex is not held while the disk works: others queue meanwhile.
func (q *queue) lead(b *batch) error {
	q.mu.Lock()
	q.take()
	q.flying = b
	began := q.began
	q.mu.Unlock()

	err := q.hand(b, began)
	q.handOver(b, err)
	return err
}

// standIn waits in the place of a caller who was sent away: its record is among others,
// and its turn may come to write them. What nobody waits for is written all the same.
func (q *queue) standIn(b *batch) {
	q.mu.Lock()
	wait := b.wait
	q.mu.Unlock()
	if _, turn := <-wait; turn {
		_ = q.lead(b)
	}
}

// sendAway refuses those who wait for a disk that hangs. Who comes later does not wait.
// It is called about once a second by the watch, and never waits for the disk itself.
func (q *queue) sendAway() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.writing || q.clock.now().Sub(q.began) <= q.clock.patience {
		return
	}
	for _, b := range []*batch{q.flying, q.pending} {
		if b != nil && b.wait != nil && !b.sent {
			close(b.wait)
			b.wait, b.sent = make(chan struct{}, 1), true
		}
	}
}

// take puts an empty batch in the place of the pending one, which its caller
// now owns. Under mu.
func (q *queue) take() {
	q.pending, q.spare = q.spare, nil
	if q.pending == nil {
		q.pending = new(batch)
	}
}

// handOver makes a waiter of the next batch its writer, if there is one, and
// tells those of b its outcome.
func (q *queue) handOver(b *batch, err error) {
	b.err = err
	q.mu.Lock()
	company := len(b.ends) > 1 || q.pending.wait != nil
	wait := b.wait
	if wait != nil {
		b.over.Store(true)
	}
	spare := b.reuse()
	// From here on nobody may send b's waiters away: they are told the outcome below.
	q.flying = nil
	if q.alone++; company {
		q.alone = 0
	}
	changed := (q.failing == nil) != (err == nil)
	q.failing = err
	if q.spare == nil {
		q.spare = spare
	}
	// The channel has room for one token, so that this send cannot block under the mutex.
	if next := q.pending; next.wait != nil {
		next.wait <- struct{}{}
		q.began = q.clock.now()
	} else {
		q.writing = false
	}
	q.mu.Unlock()
	if wait != nil {
		close(wait)
	}
	if changed {
		q.changed(err)
	}
}
