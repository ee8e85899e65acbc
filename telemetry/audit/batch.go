package audit

import (
	"runtime"
	"time"
)

// batch is records that are written by one system call. Callers append under
// Log.mu until one of them takes it to write.
type batch struct {
	members []byte // of all records, one after the other
	ends    []int  // where each one ends in members
	err     error  // the outcome; set before done is closed

	// Made by the first caller that has to wait. One waiter gets a token from
	// turn and becomes the writer of the batch; the others wait for done, or
	// until they are sent away because the disk hangs.
	turn chan struct{}
	done chan struct{}
	away chan struct{}
	sent bool // away is closed
}

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
	if b.done != nil {
		fresh = new(batch)
	}
	*fresh = batch{members: b.members[:0], ends: b.ends[:0]}
	return fresh
}

// commit has a record written and returns when it counts. Of the callers that
// come while a batch is being written, the next batch's first free one writes
// for all of them: a lone caller never waits for another goroutine, and many
// share a write (and with durability sync an fsync).
func (l *Log) commit(members []byte, now time.Time) error {
	l.mu.Lock()
	if l.writing && now.Sub(l.began) > l.disk.patience {
		l.mu.Unlock()
		return ErrStalled
	}
	b := l.pending
	b.add(members)
	if l.writing {
		if b.done == nil {
			b.turn, b.done, b.away = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		}
		l.mu.Unlock()
		select {
		case <-b.done:
			return b.err
		case <-b.turn:
		case <-b.away:
			go l.standIn(b)
			return ErrStalled
		}
	} else {
		l.writing, l.began = true, now
		l.mu.Unlock()
		runtime.Gosched() // calls that are about to come may share the write: a quarter less CPU under load
	}
	return l.lead(b)
}

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
	select {
	case <-b.done:
	case <-b.turn:
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
		if b != nil && b.away != nil && !b.sent {
			b.sent = true
			close(b.away)
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
	done := b.done
	b.err = err
	spare := b.reuse()
	l.mu.Lock()
	l.flying = nil
	changed := (l.failing == nil) != (err == nil)
	l.failing = err
	if l.spare == nil {
		l.spare = spare
	}
	if next := l.pending; next.turn != nil {
		next.turn <- struct{}{}
		l.began = l.disk.now()
	} else {
		l.writing = false
	}
	l.mu.Unlock()
	if done != nil {
		close(done)
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
