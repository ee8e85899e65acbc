package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// file is what the log needs of an open segment.
// It is *os.File in the product. Tests have one that is full, slow, or fails at the fsync.
type file interface {
	io.Writer
	Sync() error
	Cut(n int64) error // takes the last n bytes off again
	Close() error
}

// disk is what the log needs of the system. Tests give one that fails.
// The clock is among it, so that tests can go to another day without waiting for it.
type disk struct {
	// open opens a segment for appending and returns its size. With fresh it
	// makes the file and fails with fs.ErrExist when there is one.
	open    func(path string, fresh bool) (file, int64, error)
	remove  func(path string) error
	syncDir func(dir string) error // makes a new directory entry durable
	head    func(dir string, h *chain.Head) error
	now     func() time.Time
	linger  time.Duration // how far fsync may be behind writes
	probe   time.Duration // how often a disk that failed is tried

	patience time.Duration // for how long a write may take before others are refused
}

// realDisk is the disk and the clock of the machine.
func realDisk() disk {
	return disk{
		open: openFile, remove: os.Remove, syncDir: syncDir, head: chain.WriteHead,
		now: time.Now, linger: syncEvery, probe: probeEvery, patience: stallAfter,
	}
}

// osFile is a file of the system.
type osFile struct{ *os.File }

// Cut asks for the size instead of keeping count: somebody may have truncated
// the file, and to set it to a larger size would fill it with zeros.
func (f osFile) Cut(n int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return f.Truncate(max(info.Size()-n, 0))
}

// openFile opens a segment for appending, and says how long it is. fresh is whether it may not be there
// yet: a segment that somebody else has begun is not to be continued by mistake.
func openFile(path string, fresh bool) (file, int64, error) {
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if fresh {
		flags |= os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600) //nolint:gosec // in the log's directory
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Chmod(0o600) // a file that was there may have been laxer
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return osFile{f}, info.Size(), nil
}

// syncDir has the disk know of the names in a directory: without that a file that is on the disk may have
// no name after a loss of power.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // in the log's directory
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// reopenAfter is how long the log waits before it tries once more to make a
// segment: a failing disk must not be asked by every call.
const reopenAfter = time.Second

// segments is the sequence of files. Its user serialises all calls.
// States: current is nil (none yet, given up, or the last attempt failed), or open. A failure keeps
// its time, so that a disk that is full is asked once a second and not by every call.
type segments struct {
	disk  disk
	dir   string
	limit int64
	key   *segment.Key  // nil: segments are not encrypted
	keys  []segment.Key // for those that are

	sealing *segment.Encrypter // of current, when they are
	sealed  []byte             // the writer's buffer
	current file               // nil when the next write needs a fresh one
	name    segment.Name       // of current, or of the last one
	size    int64
	written bool      // to current, since its last fsync began
	until   time.Time // the end of name's day
	retired []retired // to be closed by whoever may take the time
	retry   time.Time // no attempt to make a segment before
	failure error     // of the last attempt
}

// retired is a segment that nothing more will be written to.
type retired struct {
	file file
	bad  bool // its fsync failed: another would lie (it may report success for pages the kernel dropped)
}

// resume opens the newest segment of the directory if it is whole, and returns the end
// of the records. One whose records have no hashes is left as it is.
// An encrypted segment is never continued: the state of its encryption is not stored, and a second
// key stream in one file is what the format avoids.
func (s *segments) resume() (segment.Tail, error) {
	names, err := segment.List(s.dir)
	if err != nil || len(names) == 0 {
		return segment.Tail{}, err
	}
	end, err := segment.Dir{Path: s.dir, Keys: s.keys}.Tail(names)
	if err != nil {
		return segment.Tail{}, err
	}
	s.name = names[len(names)-1]
	if s.key != nil || s.name.Form != segment.AsWritten || end.Torn || end.Hash.IsZero() && end.Segment == s.name.File() {
		return end, nil
	}
	s.current, s.size, err = s.disk.open(s.name.Path(s.dir), false)
	s.until = s.name.End()
	return end, err
}

// ending reports whether ready would leave the current segment.
func (s *segments) ending(now time.Time) bool {
	return s.current != nil && (!now.Before(s.until) || s.size >= s.limit) && (s.failure == nil || !now.Before(s.retry))
}

// ready makes sure that there is a segment to write to. A full one, or one of
// yesterday, is better than none: it is left only once its successor is there.
func (s *segments) ready(now time.Time) error {
	if s.current != nil && now.Before(s.until) && s.size < s.limit {
		return nil
	}
	if s.failure != nil && now.Before(s.retry) {
		return s.unlessCurrent(s.failure)
	}
	s.failure = s.rotate(now)
	s.retry = now.Add(reopenAfter)
	return s.unlessCurrent(s.failure)
}

// unlessCurrent is an error of going on to another segment, or nil where the old one can still be written.
func (s *segments) unlessCurrent(err error) error {
	if s.current != nil {
		return nil
	}
	return err
}

// rotate makes the next segment and retires the current one. When the clock was
// set back, the log stays on the later day: names stay in the order of records.
func (s *segments) rotate(now time.Time) error {
	// The later of the two days: were the name to go back with the clock, sorting by name would no
	// longer be the order of the records.
	next := segment.Name{Day: max(segment.DayOf(now), s.name.Day)}
	if s.key != nil {
		next.Form = segment.Encrypted
	}
	if next.Day == s.name.Day {
		next.Number = s.name.Number + 1
	}
	for {
		f, size, err := s.disk.open(next.Path(s.dir), true)
		if errors.Is(err, fs.ErrExist) {
			next.Number++ // somebody else's file: it is not ours to append to
			continue
		}
		if err != nil {
			return fmt.Errorf("start segment: %w", err)
		}
		// Without it a loss of power could take the file's name, and all records in it.
		if err := s.disk.syncDir(s.dir); err != nil {
			return fmt.Errorf("start segment: %w", errors.Join(err, f.Close(), s.disk.remove(next.Path(s.dir))))
		}
		s.retire(false)
		s.current, s.name, s.size, s.written, s.until = f, next, size, false, next.End()
		return s.seal()
	}
}

// seal begins the encryption of a segment that is empty.
func (s *segments) seal() (err error) {
	if s.key != nil {
		s.sealing, err = segment.NewEncrypter(*s.key)
	}
	return err
}

// retire gives up the current segment, if there is one.
func (s *segments) retire(bad bool) {
	if s.current != nil {
		s.retired = append(s.retired, retired{s.current, bad})
		s.current = nil
	}
}

// reopen gives up the current file and opens the one that has its name now: the
// old one may have been moved away. A file that was given up is not opened again.
// When it cannot be opened, the current one is given up all the same: it may be
// one that nobody will find, and records must not be lost in it without a word.
func (s *segments) reopen() error {
	if s.current == nil {
		return s.rotate(s.disk.now())
	}
	f, size, err := s.disk.open(s.name.Path(s.dir), false)
	s.retire(false)
	if err != nil {
		s.failure, s.retry = fmt.Errorf("reopen segment: %w", err), s.disk.now().Add(reopenAfter)
		return s.failure
	}
	s.current, s.size, s.written = f, size, false
	if size == 0 {
		return s.seal()
	}
	return nil
}

// write appends whole lines. When it fails it returns how many of them are in the file
// all the same: none if they could be cut off again, which works on a full disk too. A
// file that could not be cut is given up.
// ENOSPC usually comes with a part of the bytes written, which would be a torn line in the middle
// of the file; cutting it off needs no space.
func (s *segments) write(lines []byte) (left int, err error) {
	out, before := lines, segment.Encrypter{}
	if s.key != nil {
		before = *s.sealing
		s.sealed = s.sealing.Frames(s.sealed[:0], lines, true)
		out = s.sealed
	}
	n, err := s.current.Write(out)
	s.written = s.written || n > 0
	if err == nil {
		s.size += int64(n)
		return 0, nil
	}
	if s.key != nil {
		*s.sealing = before
	}
	if n > 0 {
		if cut := s.current.Cut(int64(n)); cut != nil {
			s.giveUp(errors.Join(err, cut))
			return s.whole(lines, n, &before), errors.Join(err, cut)
		}
	}
	return 0, err
}

// whole counts the lines in the first n bytes of what stands for some in the file. before is
// the encryption as it was then.
func (s *segments) whole(lines []byte, n int, before *segment.Encrypter) int {
	if s.key == nil {
		return bytes.Count(lines[:n], []byte{'\n'})
	}
	return before.Whole(lines, s.sealed, n)
}

// giveUp retires the current segment as bad. Its successor is not made at once:
// a disk that fails every time would be filled with segments.
func (s *segments) giveUp(err error) {
	s.retire(true)
	s.failure = err
	s.retry = s.disk.now().Add(reopenAfter)
}

// close syncs, unless that has failed before, and closes.
func (r retired) close() error {
	if r.bad {
		return r.file.Close()
	}
	return errors.Join(r.file.Sync(), r.file.Close())
}
