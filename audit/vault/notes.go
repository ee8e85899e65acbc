package vault

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	erasureLog   = "content-erased.jsonl"
	erasurePlace = "content-erased.place" // how far of it is in the audit log
)

// mostNotes is how much of the log of erasures is read at once: some ten thousand entries.
const mostNotes = 4 << 20

// note writes an entry, which tells a gateway that runs to make new drawers.
// Several processes may append: the file is opened with O_APPEND, and a line is one write.
func (r Reader) note(e Erasure) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(r.Dir, erasureLog), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if torn(f) { // somebody was killed; what is torn is to be no part of this
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// torn reports whether a file ends inside a line, as it does after a crash. The torn line stays where
// it is, and is passed over by who reads: to cut it off could cut what another process writes.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// erasures is how far the log of erasures goes, as far as can be seen without reading it.
type erasures struct {
	size  int64
	moved time.Time
}

// erasuresOf tells one state of the log of erasures from another, without reading it.
// Size and time of the file are asked for with each item that is kept; reading it would cost too
// much.
func erasuresOf(dir string) erasures {
	info, err := os.Stat(filepath.Join(dir, erasureLog)) //nolint:gosec // in the log's directory
	if err != nil {
		return erasures{}
	}
	return erasures{info.Size(), info.ModTime()}
}

// Noted is how long the log of erasures is: where Since goes on for who has seen all of it.
func (r Reader) Noted() int64 { return erasuresOf(r.Dir).size }

// Untold are the erasures behind the place that Told has kept, each as its last entry
// there has it, and the place behind them.
// It is how the audit log learns of erasures by commands that ran while no gateway did.
func (r Reader) Untold() (all []Erasure, end int64, err error) {
	at, err := r.Place()
	if err != nil {
		return nil, 0, err
	}
	return r.Since(at)
}

// Since is Untold for those behind a place. It reads whole lines only, of at most mostNotes; what is
// behind them comes with the next call, and a line that is being written with one after that.
// end is the place to ask from next time.
func (r Reader) Since(at int64) (all []Erasure, end int64, err error) {
	f, err := os.Open(filepath.Join(r.Dir, erasureLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if at > info.Size() { // it is another file
		at = 0
	}
	text, err := io.ReadAll(io.NewSectionReader(f, at, mostNotes))
	if err != nil {
		return nil, 0, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole == 0 && len(text) == mostNotes {
		whole = len(text) // of a line that is none
	}
	return lastEntries(text[:whole]), at + int64(whole), nil
}

// lastEntries are the last entries of the erasures in a log, in order. What is torn, or is
// none, is passed over. Older versions gave erasures no ids.
func lastEntries(log []byte) (all []Erasure) {
	for line := range bytes.Lines(log) {
		var e Erasure
		if json.Unmarshal(line, &e) != nil || e.State != Begun && e.State != Done && e.State != Failed ||
			e.ID == "" && e.State == Begun {
			continue
		}
		// The last entry of an erasure says how it ended; the earlier ones are superseded.
		if i := slices.IndexFunc(all, func(o Erasure) bool { return e.ID != "" && o.ID == e.ID }); i >= 0 {
			all = slices.Delete(all, i, i+1)
		}
		all = append(all, e)
	}
	return all
}

// Place is the one that Told has kept; 0 where there is none.
func (r Reader) Place() (int64, error) {
	text, err := os.ReadFile(filepath.Join(r.Dir, erasurePlace))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil || at < 0 {
		return 0, nil //nolint:nilerr // to be told of something twice is better than never
	}
	return at, nil
}

// Told keeps the place up to which somebody was told of the erasures. It is replaced by renaming, so
// that after a crash there is the old place or the new one; from the old one something is told twice.
func (r Reader) Told(end int64) error {
	path := filepath.Join(r.Dir, erasurePlace)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // in the log's directory
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(end, 10) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
