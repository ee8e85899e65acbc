package audit

import (
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// writer is the segments and what stands in them, and how far the records have come to the disk.
// It has two users: whoever has the turn in the [queue], and the goroutines of the log
// (checkpoints, fsync, old files). Locks are taken in the order syncing, file; queue.mu is never
// held while either is waited for.
type writer struct {
	*setup

	note  func(at chain.Chain) // told up to where the records are on the disk
	dirty chan struct{}        // holds a token while there is work for the background

	// file serialises the writer's work, which is short in durability write, with that of the
	// background and of Reopen. What follows is under it.
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

	syncing sync.Mutex // held by who syncs; taken before file

	// Readers of these take no lock.
	behind atomic.Int64  // records that are written, and whose fsync has not ended
	since  atomic.Int64  // Unix nanoseconds, when about the oldest of them was; 0 for none
	last   atomic.Uint64 // number of the last record
}

// write writes a batch to the current segment. The numbers of a batch that left
// nothing behind are given to the next one, so that the sequence has no gap
// that somebody would have to explain.
// A batch gets its numbers here and not when its records were queued, so that numbers are in the
// order of the file.
func (w *writer) write(b *batch, now time.Time) error {
	w.file.Lock()
	defer w.file.Unlock()
	err := w.writeBatch(b, now)
	w.last.Store(w.chain.Seq)
	if err != nil {
		w.metrics.Wrote("failed", len(b.ends))
		return err
	}
	w.metrics.Wrote("written", len(b.ends))
	if w.stdout != nil {
		w.stdout.add(w.out)
	}
	return nil
}

// writeBatch writes a batch, and a checkpoint behind it where one is due. The chain goes on from what is
// in the file and not from what should be: after a write that failed half way, those records
// that are whole have their numbers for good. Under file.
func (w *writer) writeBatch(b *batch, now time.Time) error {
	if w.closed {
		return errClosed
	}
	// A file that ends is signed to its end, so that it can be verified by itself when it is
	// archived.
	if w.segments.ending(now) {
		_ = w.seal(now) // the next record tells whether the disk works
	}
	if err := w.segments.ready(now); err != nil {
		return err
	}
	// The chain is not changed before the lines are in the file.
	next := w.assemble(b, len(b.ends))
	// A checkpoint goes into the same write as the batch that made it due: one system call, and no
	// moment in which a signature without its records could be seen.
	head := (*chain.Head)(nil)
	if next.Loose >= w.config.Checkpoint.every() {
		w.out, head = w.sealed(w.out, &next, now)
	}
	left, err := w.segments.write(w.out)
	if err != nil {
		// Lines that are whole are there for good, acknowledged or not.
		w.chain = w.assemble(b, left)
		w.forget()
		w.wake()
		return err
	}
	w.chain = next
	if head != nil {
		w.head = head
	}
	w.unsynced += len(b.ends)
	w.behind.Add(int64(len(b.ends)))
	w.since.CompareAndSwap(0, now.UnixNano())
	// In this mode callers wait for the disk; in the other the background follows within syncEvery.
	if w.config.Durability == durabilitySync {
		return w.syncBatch()
	}
	w.wake()
	return nil
}

// forget drops the head with a segment that was given up: the disk may not have it.
func (w *writer) forget() {
	if w.segments.current == nil {
		w.head = nil
	}
}

// assemble builds the first n lines of b in w.out and returns the chain as it
// is after them.
func (w *writer) assemble(b *batch, n int) chain.Chain {
	c := w.chain
	w.out = w.out[:0]
	for i := range n {
		var place []byte
		if i == 0 && w.segments.size == 0 {
			place = c.Place(nil, w.segments.name.File())
			c.Segment = w.segments.name.File()
		}
		w.out = c.Assemble(w.out, w.gateway, b.record(i), place)
	}
	return c
}

// syncBatch is the fsync that all callers of a batch wait for.
func (w *writer) syncBatch() error {
	n := w.unsynced
	w.unsynced, w.segments.written = 0, false
	err := w.segments.current.Sync()
	w.synced(n, w.disk.now())
	if err != nil {
		w.segments.giveUp(err)
		w.head = nil
	} else {
		w.note(w.chain)
	}
	// Closing files and writing the head are left to the background, so that callers wait for one
	// fsync only.
	if len(w.segments.retired) > 0 || w.head != nil {
		w.wake()
	}
	return err
}

// wake tells the background that there is something to sync or to close.
// The channel holds one token: a second wake before the background has looked changes nothing.
func (w *writer) wake() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// syncNow syncs the current segment and closes the retired ones, while writes
// go on. A segment whose fsync fails is given up: what of it is on the disk is
// not known, and asking again would not tell (the kernel reports it once).
// Whoever comes while somebody else does so waits for that: what there was to sync for
// both is on the disk only then.
// The lock is given back during the fsync, which may take as long as the disk likes: writes go on
// into the page cache meanwhile.
func (w *writer) syncNow() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.file.Lock()
	current, retired, n, head, at := w.segments.current, w.segments.retired, w.unsynced, w.head, w.chain
	written := w.segments.written // else the records are in one that was retired, and is synced as it is closed
	w.segments.retired, w.segments.written, w.unsynced, w.head = nil, false, 0, nil
	began := w.disk.now()
	w.file.Unlock()

	var err error
	if written && current != nil {
		if err = current.Sync(); err != nil {
			w.lost(current, n, err)
		}
	}
	for _, r := range retired {
		err = errors.Join(err, r.close())
	}
	w.synced(n, began)
	if err == nil {
		w.note(at)
	}
	// The head goes last. Were it on the disk before its records, a loss of power would make the
	// log look as if somebody had taken records off its end.
	if head != nil && err == nil { // never of what the disk may not have
		err = w.putHead(head)
	}
	return err
}

// putHead writes the head, or leaves it for the next time.
func (w *writer) putHead(h *chain.Head) error {
	err := w.disk.head(w.config.Dir, h)
	if err == nil {
		w.logger.Debug("audit checkpoint", "segment", h.Segment, "seq", h.Seq, "hash", h.Hash)
		return nil
	}
	w.file.Lock()
	defer w.file.Unlock()
	if w.head == nil {
		w.head = h
	}
	return err
}

// synced notes that an fsync of n records is over, which began then: what is not on the
// disk yet is younger. What it failed for is lost, and does not wait.
func (w *writer) synced(n int, began time.Time) {
	if w.behind.Add(int64(-n)) == 0 {
		w.since.Store(0)
	} else {
		w.since.Store(began.UnixNano())
	}
}

// lost gives up a segment whose background fsync failed.
// Since Linux 4.13 an fsync error is reported once per open file, and pages may have been dropped:
// a second fsync that succeeds proves nothing. That is why the file is left and not tried again.
func (w *writer) lost(f file, n int, err error) {
	w.metrics.Wrote("unsynced", n)
	w.file.Lock()
	defer w.file.Unlock()
	w.head = nil
	if w.segments.current == f {
		w.segments.giveUp(err)
		w.wake()
		return
	}
	for i := range w.segments.retired { // rotated meanwhile
		if w.segments.retired[i].file == f {
			w.segments.retired[i].bad = true
		}
	}
}

// resumeAt continues behind the head where that is further than the records: those
// between were moved or taken away. Their numbers are not used again, and the chain goes
// on from where they ended, so that they fit when they come back and are missed when not.
// gone is nil where nothing is missing; else it is the attributes of the event audit.gone.
func (w *writer) resumeAt(end segment.Tail) (gone map[string]string, err error) {
	w.chain = chain.Chain{Seq: end.Seq, Hash: end.Hash, Segment: end.Segment}
	defer func() { w.last.Store(w.chain.Seq) }()
	h, err := chain.ReadHead(filepath.Join(w.config.Dir, chain.HeadFile))
	if h == nil || h.Seq <= end.Seq {
		return nil, err
	}
	w.chain.Seq, w.chain.Segment = h.Seq, h.Segment
	copy(w.chain.Hash[:], h.Hash)
	w.segments.retire(false)
	return map[string]string{
		"from": strconv.FormatUint(end.Seq+1, 10), "to": strconv.FormatUint(h.Seq, 10), "segment": h.Segment,
	}, nil
}
