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
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// tidyEvery is how often files are looked at that have ended.
const tidyEvery = time.Minute

// retention looks after the files that have ended: it removes those whose time is over, or which
// are too many, and compresses the others.
// It has a goroutine of its own, since compressing hundreds of files may take hours. It touches no
// file that the writer has, and asks the writer under its lock which one that is.
//
// The order of a removal is: a record with number and hash of the last record that goes
// (audit.removed), a checkpoint over that record, fsync of both, and only then the files. Killed at
// any point, the log verifies: either the files are there, or a signed record says why not.
type retention struct {
	*setup

	writer  *writer                                          // what it must not touch, and who signs
	event   func(kind string, attrs map[string]string) error // records that files are removed
	content func()                                           // destroys captured content whose time is over
	closing <-chan struct{}

	tidying sync.Mutex
	untidy  error // of the last look at old files; under tidying
}

// keepTidy looks after the files that have ended, for which it may need hours when there are
// many.
func (r *retention) keepTidy() {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		r.tidyNow()
		select {
		case <-r.closing:
			return
		case <-tick.C:
		}
	}
}

// errEnding means that the log is being closed, and what is left to tidy is for the next one.
var errEnding = errors.New("the log is being closed")

// ending is errEnding when it is.
// It is asked between blocks of a file, so that Close waits for one block and not for one file.
func (r *retention) ending() error {
	select {
	case <-r.closing:
		return errEnding
	default:
		return nil
	}
}

// tidyNow removes the files whose time is over and compresses the others, but for the one
// that is written to.
func (r *retention) tidyNow() {
	r.content()
	if r.config.Retention == (Retention{}) && !r.config.Compress {
		return
	}
	r.tidying.Lock()
	defer r.tidying.Unlock()
	err := r.tidy()
	if r.ending() != nil || errors.Is(err, errClosed) {
		return
	}
	if (err == nil) != (r.untidy == nil) {
		if err != nil {
			r.logger.Error("old audit files cannot be removed or compressed", "dir", r.config.Dir, "error", err)
		} else {
			r.logger.Info("old audit files are removed and compressed again", "dir", r.config.Dir)
		}
	}
	r.untidy = err
}

// tidy comes back to what is due after each file that it has compressed.
func (r *retention) tidy() error {
	for {
		more, err := r.tidySome()
		if err != nil || !more {
			return err
		}
		r.content()
	}
}

// tidySome removes what is not to be kept, and compresses one of the others. It reports
// whether there may be more of these. Removing comes first each time: compressing a file may
// take minutes, in which the time of another is over, and what is to go must not wait for it.
func (r *retention) tidySome() (more bool, err error) {
	// The directory is listed anew each round: files come while one is compressed.
	ended, err := r.ended()
	if err != nil {
		return false, err
	}
	old, err := r.outlived(ended)
	if err != nil {
		return false, err
	}
	// Without keys the record of the removal could not be signed, and files that were
	// removed could not be told from files that were taken.
	if len(old) > 0 && r.writer.signs() {
		if err := r.remove(old); err != nil {
			return false, err
		}
	}
	if !r.config.Compress {
		return false, nil
	}
	for _, n := range ended[len(old):] {
		if n.Form.Compressed() || n.Form.Encrypted() && r.writer.segments.key == nil {
			continue // the latter would need a key to be what it was
		}
		if err := r.compress(n); err != nil {
			return false, fmt.Errorf("compress %s: %w", n.File(), err)
		}
		return true, nil
	}
	return false, nil
}

// ended lists the segments before the current one, which nobody writes to any more.
func (r *retention) ended() ([]segment.Name, error) {
	r.writer.file.Lock()
	current := r.writer.segments.name
	r.writer.file.Unlock()
	names, err := segment.List(r.config.Dir)
	return slices.DeleteFunc(names, func(n segment.Name) bool { return n.Compare(current) >= 0 }), err
}

// outlived returns the first of the segments, those that are not to be kept. They are always
// the oldest: a log with a hole in it could not be told from one that somebody took files from.
// By age a segment goes when the whole of its day is too old, and not before those before it;
// one that is still needed (Config.Held) stays, until the size is too much.
// With both bounds, the one that removes more decides.
func (r *retention) outlived(ended []segment.Name) ([]segment.Name, error) {
	n := 0
	if age := r.config.Retention.Age.Std(); age > 0 {
		for n < len(ended) && r.disk.now().Sub(ended[n].End()) > age && !r.config.held(ended[n].File()) {
			n++
		}
	}
	most := int64(r.config.Retention.Size)
	if most == 0 {
		return ended[:n], nil
	}
	r.writer.file.Lock()
	total := r.writer.segments.size
	r.writer.file.Unlock()
	// From the newest backwards: where the sum passes the bound, this file and all before it go.
	for i, s := range slices.Backward(ended) {
		info, err := os.Stat(s.Path(r.config.Dir))
		if err != nil {
			return nil, err
		}
		if total += info.Size(); total > most {
			return ended[:max(n, i+1)], nil
		}
	}
	return ended[:n], nil
}

// remove removes segments. First a record says so and is signed, on the disk: it is
// what the next segment's predecessor is known by when it is not there any more. As
// nothing is removed before, nobody needs to believe one that is not signed.
func (r *retention) remove(old []segment.Name) error {
	end, err := r.config.Source().Dir().Tail(old)
	if err != nil {
		return err
	}
	if end.Seq > 0 {
		if err := r.event(eventRemoved, map[string]string{
			"to": strconv.FormatUint(end.Seq, 10), "hash": end.Hash.String(),
			"first": old[0].File(), "last": old[len(old)-1].File(), "files": strconv.Itoa(len(old)),
		}); err != nil {
			return err
		}
		if err := r.writer.signNow(); err != nil {
			return err
		}
	}
	for _, n := range old {
		if err := r.ending(); err != nil {
			return err
		}
		// In each form that there is: a crash may have left two.
		for _, f := range segment.Forms {
			n.Form = f
			if err := r.disk.remove(n.Path(r.config.Dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return r.disk.syncDir(r.config.Dir)
}

// compress puts a compressed file in the place of a segment. It has a name that nobody
// reads until it is on the disk.
// The original goes last, after the directory is synced: a crash leaves both, of which List takes
// the original, and the next round compresses again.
func (r *retention) compress(n segment.Name) error {
	packed := n
	packed.Form = segment.Compressed
	if r.writer.segments.key != nil {
		packed.Form += segment.Encrypted
	}
	path := packed.Path(r.config.Dir)
	if err := r.pack(n, path+".new"); err != nil {
		return errors.Join(err, r.disk.remove(path+".new"))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	if err := r.disk.syncDir(r.config.Dir); err != nil {
		return err
	}
	return r.disk.remove(n.Path(r.config.Dir))
}

// pack writes the compressed file. What is torn at the end of a segment is left out.
func (r *retention) pack(n segment.Name, path string) (err error) {
	in, err := r.config.Source().Dir().Open(n, 0)
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
	if r.writer.segments.key != nil {
		s, err := segment.NewEncrypter(*r.writer.segments.key)
		if err != nil {
			return err
		}
		out = &frameWriter{f, s}
	}
	// One goroutine and a window of 1 MiB: compressing is to be a small load beside the calls.
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	// Blocks end with lines; a torn one at the end of the file is not among them.
	buf := make([]byte, segment.BlockSize)
	for {
		lines, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, r.ending()); err != nil {
			return err
		}
		if _, err := z.Write(lines); err != nil {
			return err
		}
	}
	// The file is complete only after this; the fsync below makes it so on the disk.
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
