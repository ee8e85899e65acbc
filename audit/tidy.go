package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// tidyEvery is how often files are looked at that have ended.
const tidyEvery = time.Minute

// keepTidy looks after the files that have ended, for which it may need hours when there are
// many.
func (l *Log) keepTidy() {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		l.tidyNow()
		select {
		case <-l.quit:
			return
		case <-tick.C:
		}
	}
}

// errEnding means that the log is being closed, and what is left to tidy is for the next one.
var errEnding = errors.New("the log is being closed")

// ending is errEnding when it is.
func (l *Log) ending() error {
	select {
	case <-l.quit:
		return errEnding
	default:
		return nil
	}
}

// tidyNow removes the files whose time is over and compresses the others, but for the one
// that is written to.
func (l *Log) tidyNow() {
	l.tidyContent()
	if l.config.Retention == (Retention{}) && !l.config.Compress {
		return
	}
	l.tidying.Lock()
	defer l.tidying.Unlock()
	err := l.tidy()
	if l.ending() != nil || errors.Is(err, ErrClosed) {
		return
	}
	if (err == nil) != (l.untidy == nil) {
		if err != nil {
			l.logger.Error("old audit files cannot be removed or compressed", "dir", l.config.Dir, "error", err)
		} else {
			l.logger.Info("old audit files are removed and compressed again", "dir", l.config.Dir)
		}
	}
	l.untidy = err
}

// tidy comes back to what is due after each file that it has compressed.
func (l *Log) tidy() error {
	for {
		more, err := l.tidySome()
		if err != nil || !more {
			return err
		}
		l.tidyContent()
	}
}

// tidySome removes what is not to be kept, and compresses one of the others. It reports
// whether there may be more of these. Removing comes first each time: compressing a file may
// take minutes, in which the time of another is over, and what is to go must not wait for it.
func (l *Log) tidySome() (more bool, err error) {
	ended, err := l.ended()
	if err != nil {
		return false, err
	}
	old, err := l.outlived(ended)
	if err != nil {
		return false, err
	}
	// Without keys the record of the removal could not be signed, and files that were
	// removed could not be told from files that were taken.
	if len(old) > 0 && l.signs() {
		if err := l.remove(old); err != nil {
			return false, err
		}
	}
	if !l.config.Compress {
		return false, nil
	}
	for _, n := range ended[len(old):] {
		if n.Form.Compressed() || n.Form.Encrypted() && l.segments.key == nil {
			continue // the latter would need a key to be what it was
		}
		if err := l.compress(n); err != nil {
			return false, fmt.Errorf("compress %s: %w", n.File(), err)
		}
		return true, nil
	}
	return false, nil
}

// ended lists the segments before the current one, which nobody writes to any more.
func (l *Log) ended() ([]segment.Name, error) {
	l.file.Lock()
	current := l.segments.name
	l.file.Unlock()
	names, err := segment.List(l.config.Dir)
	return slices.DeleteFunc(names, func(n segment.Name) bool { return n.Compare(current) >= 0 }), err
}

// outlived returns the first of the segments, those that are not to be kept. They are always
// the oldest: a log with a hole in it could not be told from one that somebody took files from.
// By age a segment goes when the whole of its day is too old, and not before those before it;
// one that is still needed (Config.Held) stays, until the size is too much.
func (l *Log) outlived(ended []segment.Name) ([]segment.Name, error) {
	n := 0
	if age := l.config.Retention.Age.Std(); age > 0 {
		for n < len(ended) && l.disk.now().Sub(ended[n].End()) > age && !l.config.held(ended[n].File()) {
			n++
		}
	}
	most := int64(l.config.Retention.Size)
	if most == 0 {
		return ended[:n], nil
	}
	l.file.Lock()
	total := l.segments.size
	l.file.Unlock()
	for i, s := range slices.Backward(ended) {
		info, err := os.Stat(s.Path(l.config.Dir))
		if err != nil {
			return nil, err
		}
		if total += info.Size(); total > most {
			return ended[:max(n, i+1)], nil
		}
	}
	return ended[:n], nil
}

// signs reports whether there are keys to sign with. The gateway opens the log first.
func (l *Log) signs() bool {
	l.file.Lock()
	defer l.file.Unlock()
	return l.signer != nil
}

// signNow returns when a checkpoint that the disk has covers all records there are.
func (l *Log) signNow() error {
	all := l.Seq()
	l.sealNow()
	l.file.Lock()
	signed := l.chain.Seq - uint64(l.chain.Loose) //nolint:gosec // no more than there are
	l.file.Unlock()
	if signed < all {
		return errors.New("the records cannot be signed")
	}
	return l.syncNow()
}

// remove removes segments. First a record says so and is signed, on the disk: it is
// what the next segment's predecessor is known by when it is not there any more. As
// nothing is removed before, nobody needs to believe one that is not signed.
func (l *Log) remove(old []segment.Name) error {
	end, err := l.config.Source().dir().Tail(old)
	if err != nil {
		return err
	}
	if end.Seq > 0 {
		if err := l.Event(chain.EventRemoved, map[string]string{
			"to": strconv.FormatUint(end.Seq, 10), "hash": end.Hash.String(),
			"first": old[0].File(), "last": old[len(old)-1].File(), "files": strconv.Itoa(len(old)),
		}); err != nil {
			return err
		}
		if err := l.signNow(); err != nil {
			return err
		}
	}
	for _, n := range old {
		if err := l.ending(); err != nil {
			return err
		}
		// In each form that there is: a crash may have left two.
		for _, f := range segment.Forms {
			n.Form = f
			if err := l.disk.remove(n.Path(l.config.Dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return l.disk.syncDir(l.config.Dir)
}

// compress puts a compressed file in the place of a segment. It has a name that nobody
// reads until it is on the disk.
func (l *Log) compress(n segment.Name) error {
	packed := n
	packed.Form = segment.Compressed
	if l.segments.key != nil {
		packed.Form += segment.Encrypted
	}
	path := packed.Path(l.config.Dir)
	if err := l.pack(n, path+".new"); err != nil {
		return errors.Join(err, l.disk.remove(path+".new"))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	if err := l.disk.syncDir(l.config.Dir); err != nil {
		return err
	}
	return l.disk.remove(n.Path(l.config.Dir))
}

// pack writes the compressed file. What is torn at the end of a segment is left out.
func (l *Log) pack(n segment.Name, path string) (err error) {
	in, err := l.config.Source().dir().Open(n, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var out io.Writer = f
	if l.segments.key != nil {
		s, err := segment.NewEncrypter(*l.segments.key)
		if err != nil {
			return err
		}
		out = &frameWriter{f, s}
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	buf := make([]byte, segment.BlockSize)
	for {
		lines, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, l.ending()); err != nil {
			return err
		}
		if _, err := z.Write(lines); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Sync()
}

// frameWriter encrypts a stream.
type frameWriter struct {
	out     io.Writer
	sealing *segment.Encrypter
}

// Write implements io.Writer. What it is given may end inside a line, as compressed data has none.
func (w *frameWriter) Write(p []byte) (int, error) {
	if _, err := w.out.Write(w.sealing.Frames(nil, p, false)); err != nil {
		return 0, err
	}
	return len(p), nil
}
