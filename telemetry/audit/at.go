package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
)

// Records reads the records after a place as Follow does, and ends where there are no
// more for now.
func (s Source) Records(ctx context.Context, from Cursor) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := &follower{source: s, at: from, yield: yield, buf: make([]byte, blockSize), sum: newSummer()}
		defer f.close()
		if err := f.read(ctx); err != nil && !errors.Is(err, errEnough) {
			yield(Entry{}, err)
		}
	}
}

// Segments lists the segments there are, in their order, as cursors name them.
func (s Source) Segments() ([]string, error) {
	names, err := list(s.Path)
	if err != nil {
		return nil, err
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = n.file()
	}
	return all, nil
}

// Needs reports whether a segment may have records behind the place.
func (c Cursor) Needs(segment string) bool {
	at, ok := parseName(c.Segment)
	n, is := parseName(segment)
	return !ok || !is || n.compare(at) >= 0
}

// Sync returns when the disk has what a segment holds now. Without it a reader may be
// ahead of the disk, and after a loss of power there would be other records with the
// numbers of those that it has read.
func (s Source) Sync(segment string) error {
	n, ok := parseName(segment)
	if !ok {
		return ErrNotThere
	}
	for _, n.form = range []form{asWritten, encrypted} { // what is compressed is on the disk
		f, err := os.Open(n.path(s.Path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // or it was moved away, as it is only when it is done with
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// ErrNotThere says that a place holds no such record (any more).
var ErrNotThere = errors.New("the record is not there any more")

// Line is the record that ends at a cursor, of so many bytes without its newline. It is
// ErrNotThere where the cursor leads to another one or to nothing.
func (s Source) Line(at Cursor, length int) ([]byte, error) {
	n, ok := parseName(at.Segment)
	start := at.Offset - int64(length) - 1
	if !ok || length < 1 || length > longestRecord || start < 0 {
		return nil, ErrNotThere
	}
	in, err := s.openSegment(n, start)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotThere
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	line, err := in.next(make([]byte, length+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotThere, at.Segment, err)
	}
	if len(line) < length+1 || line[length] != '\n' {
		return nil, ErrNotThere
	}
	line = line[:length]
	if seq, ok := lastSeq(line); !ok || seq != at.Seq {
		return nil, ErrNotThere
	}
	return line, nil
}
