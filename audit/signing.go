package audit

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// sealed appends a checkpoint to lines that bring the chain to c, and returns the head
// that there is once they are written. When it cannot be signed, the lines go without.
func (w *writer) sealed(lines []byte, c *chain.Chain, now time.Time) ([]byte, *chain.Head) {
	if w.signer == nil || w.distrust != nil || c.Loose == 0 {
		return lines, nil
	}
	members, jws, err := w.signer.members(c, now)
	switch {
	case err != nil && w.unsigned == nil:
		w.logger.Error("audit checkpoints cannot be signed", "error", err)
	case err == nil && w.unsigned != nil:
		w.logger.Info("audit checkpoints are signed again")
	}
	// Records without a checkpoint are better than none: verification shows from where on they are
	// unsigned.
	if w.unsigned = err; err != nil {
		return lines, nil
	}
	var place []byte
	// The first record of a file says which file it is and what comes before.
	if w.segments.size == 0 && len(lines) == 0 {
		place = c.Place(nil, w.segments.name.File())
		c.Segment = w.segments.name.File()
	}
	lines = c.Assemble(lines, w.gateway, members, place)
	c.Loose = 0
	return lines, &chain.Head{
		Segment: w.segments.name.File(), Seq: c.Seq, Hash: c.Hash.String(),
		Time: now.UTC().Format(time.RFC3339Nano), Checkpoint: jws,
	}
}

// seal writes a checkpoint by itself, when there are records since the last. What fails
// is tried again with the next. Under file.
func (w *writer) seal(now time.Time) error {
	if w.segments.current == nil {
		return nil
	}
	next := w.chain
	lines, head := w.sealed(w.out[:0], &next, now)
	if head == nil {
		return nil
	}
	w.out = lines
	if _, err := w.segments.write(lines); err != nil {
		w.forget()
		return err
	}
	if w.stdout != nil {
		w.stdout.add(lines)
	}
	w.chain, w.head = next, head
	w.last.Store(next.Seq)
	w.unsynced++
	w.behind.Add(1)
	w.since.CompareAndSwap(0, now.UnixNano())
	w.wake()
	return nil
}

// sealNow writes a checkpoint if one is due.
func (w *writer) sealNow() {
	w.file.Lock()
	defer w.file.Unlock()
	if !w.closed {
		_ = w.seal(w.disk.now()) // the next record tells whether the disk works
	}
}

// signs reports whether there are keys to sign with. The gateway opens the log first.
func (w *writer) signs() bool {
	w.file.Lock()
	defer w.file.Unlock()
	return w.signer != nil
}

// signNow returns when a checkpoint that the disk has covers all records there are.
// An error leaves old files where they are; the next round of retention tries again.
func (w *writer) signNow() error {
	all := w.last.Load()
	w.sealNow()
	w.file.Lock()
	signed := w.chain.Seq - uint64(w.chain.Loose) //nolint:gosec // no more than there are
	w.file.Unlock()
	if signed < all {
		return errors.New("the records cannot be signed")
	}
	return w.syncNow()
}

// SignWith gives the log the keys that sign its checkpoints. Until then there are none.
func (l *Log) SignWith(k Keys) {
	distrust := unsignedRemovals(l.config.Source(), k.JWKS(), l.Seq())
	l.file.Lock()
	l.signer, l.distrust = &signer{keys: k, gateway: l.id}, distrust
	l.file.Unlock()
	l.recordDistrust()
	l.syncing.Lock()
	defer l.syncing.Unlock()
	// From the beginning there is a head, so that it is missed when it goes. The writer may have written
	// one by now, which stays.
	if h, err := chain.ReadHead(filepath.Join(l.config.Dir, chain.HeadFile)); h == nil && err == nil {
		_ = l.disk.head(l.config.Dir, &chain.Head{}) // the first checkpoint tells whether it can be written
	}
}
