package audit

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// SignWith gives the log the keys that sign its checkpoints. Until then there are none.
func (l *Log) SignWith(k Keys) {
	distrust := unsignedRemovals(l.config.Source(), k.JWKS(), l.Seq())
	l.file.Lock()
	l.signer, l.distrust = &signer{keys: k, gateway: l.id}, distrust
	l.file.Unlock()
	l.recordDistrust()
	// From the beginning there is a head, so that it is missed when it goes.
	if h, err := chain.ReadHead(filepath.Join(l.config.Dir, chain.HeadFile)); h == nil && err == nil {
		_ = l.disk.head(l.config.Dir, &chain.Head{}) // the first checkpoint tells whether it can be written
	}
}

// resumeAt continues behind the head where that is further than the records: those
// between were moved or taken away. Their numbers are not used again, and the chain goes
// on from where they ended, so that they fit when they come back and are missed when not.
func (l *Log) resumeAt(end segment.Tail) (gone map[string]string, err error) {
	l.chain = chain.Chain{Seq: end.Seq, Hash: end.Hash, Segment: end.Segment}
	defer func() { l.last.Store(l.chain.Seq) }()
	h, err := chain.ReadHead(filepath.Join(l.config.Dir, chain.HeadFile))
	if h == nil || h.Seq <= end.Seq {
		return nil, err
	}
	l.chain.Seq, l.chain.Segment = h.Seq, h.Segment
	copy(l.chain.Hash[:], h.Hash)
	l.segments.retire(false)
	return map[string]string{
		"from": strconv.FormatUint(end.Seq+1, 10), "to": strconv.FormatUint(h.Seq, 10), "segment": h.Segment,
	}, nil
}

// sealed appends a checkpoint to lines that bring the chain to c, and returns the head
// that there is once they are written. When it cannot be signed, the lines go without.
func (l *Log) sealed(lines []byte, c *chain.Chain, now time.Time) ([]byte, *chain.Head) {
	if l.signer == nil || l.distrust != nil || c.Loose == 0 {
		return lines, nil
	}
	members, jws, err := l.signer.members(c, now)
	switch {
	case err != nil && l.unsigned == nil:
		l.logger.Error("audit checkpoints cannot be signed", "error", err)
	case err == nil && l.unsigned != nil:
		l.logger.Info("audit checkpoints are signed again")
	}
	if l.unsigned = err; err != nil {
		return lines, nil
	}
	var place []byte
	// The first record of a file says which file it is and what comes before.
	if l.segments.size == 0 && len(lines) == 0 {
		place = c.Place(nil, l.segments.name.File())
		c.Segment = l.segments.name.File()
	}
	lines = c.Assemble(lines, l.gateway, members, place)
	c.Loose = 0
	return lines, &chain.Head{
		Segment: l.segments.name.File(), Seq: c.Seq, Hash: c.Hash.String(),
		Time: now.UTC().Format(time.RFC3339Nano), Checkpoint: jws,
	}
}

// seal writes a checkpoint by itself, when there are records since the last. What fails
// is tried again with the next. Under file.
func (l *Log) seal(now time.Time) error {
	if l.segments.current == nil {
		return nil
	}
	next := l.chain
	lines, head := l.sealed(l.out[:0], &next, now)
	if head == nil {
		return nil
	}
	l.out = lines
	if _, err := l.segments.write(lines); err != nil {
		l.forget()
		return err
	}
	if l.stdout != nil {
		l.stdout.add(lines)
	}
	l.chain, l.head = next, head
	l.last.Store(next.Seq)
	l.unsynced++
	l.behind.Add(1)
	l.since.CompareAndSwap(0, now.UnixNano())
	l.wake()
	return nil
}
