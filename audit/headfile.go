package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// headFile holds the last checkpoint. Of records that are taken off the end nothing in
// the segments tells; this does, and more surely a copy of it that is kept elsewhere.
const headFile = "audit.head"

// headRecord is the content of headFile.
type headRecord struct {
	Segment    string `json:"segment"`
	Seq        uint64 `json:"seq"`  // of the checkpoint; 0 while there is none
	Hash       string `json:"hash"` // of the checkpoint
	Time       string `json:"time"`
	Checkpoint string `json:"checkpoint"` // its JWS
}

// readHead reads a head, nil when there is none.
func readHead(path string) (*headRecord, error) {
	data, err := os.ReadFile(path) //nolint:gosec // in the log's directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &headRecord{}
	if err := json.Unmarshal(data, h); err != nil || h.Seq > 0 && len(h.Hash) != len(link{}) {
		return nil, fmt.Errorf("%s: it is no head of an audit log", path)
	}
	return h, nil
}

// writeHead replaces the head at once, so that a reader finds the one or the other.
func writeHead(dir string, h *headRecord) error {
	data, err := json.Marshal(h, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	path := filepath.Join(dir, headFile)
	if err := writeSynced(path+".new", append(data, '\n')); err != nil {
		return err
	}
	return os.Rename(path+".new", path) //nolint:gosec // in the log's directory
}

// writeSynced writes a file whose content is on the disk before its name is: after a loss
// of power there is the old head or the new one, and never half of one.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // in the log's directory
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// SignWith gives the log the keys that sign its checkpoints. Until then there are none.
func (l *Log) SignWith(k Keys) {
	distrust := l.unsignedRemovals(k)
	l.file.Lock()
	l.signer, l.distrust = &signer{keys: k, gateway: l.id}, distrust
	l.file.Unlock()
	l.recordDistrust()
	// From the beginning there is a head, so that it is missed when it goes.
	if h, err := readHead(filepath.Join(l.config.Dir, headFile)); h == nil && err == nil {
		_ = l.disk.head(l.config.Dir, &headRecord{}) // the first checkpoint tells whether it can be written
	}
}

// resumeAt continues behind the head where that is further than the records: those
// between were moved or taken away. Their numbers are not used again, and the chain goes
// on from where they ended, so that they fit when they come back and are missed when not.
func (l *Log) resumeAt(end tail) (gone map[string]string, err error) {
	l.chain = chain{seq: end.seq, hash: end.hash, segment: end.segment, sum: l.chain.sum}
	defer func() { l.last.Store(l.chain.seq) }()
	h, err := readHead(filepath.Join(l.config.Dir, headFile))
	if h == nil || h.Seq <= end.seq {
		return nil, err
	}
	l.chain.seq, l.chain.segment = h.Seq, h.Segment
	copy(l.chain.hash[:], h.Hash)
	l.segments.retire(false)
	return map[string]string{
		"from": strconv.FormatUint(end.seq+1, 10), "to": strconv.FormatUint(h.Seq, 10), "segment": h.Segment,
	}, nil
}

// sealed appends a checkpoint to lines that bring the chain to c, and returns the head
// that there is once they are written. When it cannot be signed, the lines go without.
func (l *Log) sealed(lines []byte, c *chain, now time.Time) ([]byte, *headRecord) {
	if l.signer == nil || l.distrust != nil || c.loose == 0 {
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
		place = c.place(nil, l.segments.name)
		c.segment = l.segments.name.file()
	}
	lines = c.assemble(lines, l.gateway, members, place)
	c.loose = 0
	return lines, &headRecord{
		Segment: l.segments.name.file(), Seq: c.seq, Hash: c.hash.String(),
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
	l.last.Store(next.seq)
	l.unsynced++
	l.behind.Add(1)
	l.since.CompareAndSwap(0, now.UnixNano())
	l.wake()
	return nil
}
