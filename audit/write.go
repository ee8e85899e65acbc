package audit

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// output is the segments and what stands in them: under file, which serialises the writer's
// work, which is short in durability write, with that of the background and of Reopen.
type output struct {
	file     sync.Mutex
	segments segments
	chain    chain.Chain
	signer   *signer     // nil without keys
	head     *chain.Head // of the last checkpoint, to be written once that is on the disk
	unsigned error       // of the last checkpoint; nil when it was signed
	distrust *span       // records among which no removal counts, to be recorded before anything is signed
	unsynced int         // records since the last fsync began
	closed   bool
	out      []byte // the writer's buffer
}

// progress is how far the records have come. Readers of it take no lock.
type progress struct {
	syncing sync.Mutex // held by who syncs; taken before file

	behind atomic.Int64  // records that are written, and whose fsync has not ended
	since  atomic.Int64  // Unix nanoseconds, when about the oldest of them was; 0 for none
	last   atomic.Uint64 // number of the last record
}

// write writes a batch to the current segment. The numbers of a batch that left
// nothing behind are given to the next one, so that the sequence has no gap
// that somebody would have to explain.
func (l *Log) write(b *batch, now time.Time) error {
	l.file.Lock()
	defer l.file.Unlock()
	err := l.writeBatch(b, now)
	l.last.Store(l.chain.Seq)
	if err != nil {
		l.metrics.Audit("failed", len(b.ends))
		return err
	}
	l.metrics.Audit("written", len(b.ends))
	if l.stdout != nil {
		l.stdout.add(l.out)
	}
	return nil
}

// writeBatch writes a batch, and a checkpoint behind it where one is due. The chain goes on from what is
// in the file and not from what should be: after a write that failed half way, those records
// that are whole have their numbers for good. Under file.
func (l *Log) writeBatch(b *batch, now time.Time) error {
	if l.closed {
		return ErrClosed
	}
	if l.segments.ending(now) {
		_ = l.seal(now) // the next record tells whether the disk works
	}
	if err := l.segments.ready(now); err != nil {
		return err
	}
	next := l.assemble(b, len(b.ends))
	head := (*chain.Head)(nil)
	if next.Loose >= l.config.Checkpoint.every() {
		l.out, head = l.sealed(l.out, &next, now)
	}
	left, err := l.segments.write(l.out)
	if err != nil {
		// Lines that are whole are there for good, acknowledged or not.
		l.chain = l.assemble(b, left)
		l.forget()
		l.wake()
		return err
	}
	l.chain = next
	if head != nil {
		l.head = head
	}
	l.unsynced += len(b.ends)
	l.behind.Add(int64(len(b.ends)))
	l.since.CompareAndSwap(0, now.UnixNano())
	if l.config.Durability == durabilitySync {
		return l.syncBatch()
	}
	l.wake()
	return nil
}

// forget drops the head with a segment that was given up: the disk may not have it.
func (l *Log) forget() {
	if l.segments.current == nil {
		l.head = nil
	}
}

// assemble builds the first n lines of b in l.out and returns the chain as it
// is after them.
func (l *Log) assemble(b *batch, n int) chain.Chain {
	c := l.chain
	l.out = l.out[:0]
	for i := range n {
		var place []byte
		if i == 0 && l.segments.size == 0 {
			place = c.Place(nil, l.segments.name.File())
			c.Segment = l.segments.name.File()
		}
		l.out = c.Assemble(l.out, l.gateway, b.record(i), place)
	}
	return c
}

// syncBatch is the fsync that all callers of a batch wait for.
func (l *Log) syncBatch() error {
	n := l.unsynced
	l.unsynced, l.segments.written = 0, false
	err := l.segments.current.Sync()
	l.synced(n, l.disk.now())
	if err != nil {
		l.segments.giveUp(err)
		l.head = nil
	} else {
		l.marks.note(l.chain)
	}
	if len(l.segments.retired) > 0 || l.head != nil {
		l.wake()
	}
	return err
}

// wake tells the background that there is something to sync or to close.
func (l *Log) wake() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// background keeps the disk close behind the writes.
func (l *Log) background() {
	defer close(l.done)
	timer := time.NewTimer(l.disk.linger)
	defer timer.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-l.dirty:
		}
		timer.Reset(l.disk.linger)
		select {
		case <-l.quit:
			return
		case <-timer.C:
		}
		if err := l.syncNow(); err != nil {
			l.logger.Error("audit records may not have reached the disk", "dir", l.config.Dir, "error", err)
		}
	}
}

// syncNow syncs the current segment and closes the retired ones, while writes
// go on. A segment whose fsync fails is given up: what of it is on the disk is
// not known, and asking again would not tell (the kernel reports it once).
// Whoever comes while somebody else does so waits for that: what there was to sync for
// both is on the disk only then.
func (l *Log) syncNow() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.file.Lock()
	current, retired, n, head, at := l.segments.current, l.segments.retired, l.unsynced, l.head, l.chain
	written := l.segments.written // else the records are in one that was retired, and is synced as it is closed
	l.segments.retired, l.segments.written, l.unsynced, l.head = nil, false, 0, nil
	began := l.disk.now()
	l.file.Unlock()

	var err error
	if written && current != nil {
		if err = current.Sync(); err != nil {
			l.lost(current, n, err)
		}
	}
	for _, r := range retired {
		err = errors.Join(err, r.close())
	}
	l.synced(n, began)
	if err == nil {
		l.marks.note(at)
	}
	if head != nil && err == nil { // never of what the disk may not have
		err = l.putHead(head)
	}
	return err
}

// putHead writes the head, or leaves it for the next time.
func (l *Log) putHead(h *chain.Head) error {
	err := l.disk.head(l.config.Dir, h)
	if err == nil {
		l.logger.Debug("audit checkpoint", "segment", h.Segment, "seq", h.Seq, "hash", h.Hash)
		return nil
	}
	l.file.Lock()
	defer l.file.Unlock()
	if l.head == nil {
		l.head = h
	}
	return err
}

// synced notes that an fsync of n records is over, which began then: what is not on the
// disk yet is younger. What it failed for is lost, and does not wait.
func (l *Log) synced(n int, began time.Time) {
	if l.behind.Add(int64(-n)) == 0 {
		l.since.Store(0)
	} else {
		l.since.Store(began.UnixNano())
	}
}

// lost gives up a segment whose background fsync failed.
func (l *Log) lost(f file, n int, err error) {
	l.metrics.Audit("unsynced", n)
	l.file.Lock()
	defer l.file.Unlock()
	l.head = nil
	if l.segments.current == f {
		l.segments.giveUp(err)
		l.wake()
		return
	}
	for i := range l.segments.retired { // rotated meanwhile
		if l.segments.retired[i].file == f {
			l.segments.retired[i].bad = true
		}
	}
}
