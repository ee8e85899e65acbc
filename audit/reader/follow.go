package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// Cursor is a place between two records. The zero Cursor is before the oldest.
// Number and hash say which record is meant, segment and offset where it was found; when the two do
// not agree, as after files were moved, the segment is read from its beginning and the number
// decides. It is what sinks and the index keep as JSON.
type Cursor struct {
	Segment string `json:"segment,omitempty"` // file that holds the record before the place
	Offset  int64  `json:"offset,omitempty"`  // where that record ends in it
	Seq     uint64 `json:"seq,omitempty"`     // number of that record
	Hash    string `json:"hash,omitempty"`    // its hash, if it has one
}

// Entry is one record as it was written.
type Entry struct {
	Seq    uint64
	Line   []byte // a JSON object without the newline; good until the next entry
	Cursor Cursor // after this record: what to keep once it has been dealt with
}

// LostError says that records are not there any more, or have not been found: somebody
// removed them before they were read.
// It is not fatal: the iterator yields it with an empty [Entry] and goes on with the next record
// there is.
type LostError struct {
	From, To uint64 // the first and the last of them
}

func (e *LostError) Error() string {
	return fmt.Sprintf("audit records %d to %d are not there any more", e.From, e.To)
}

// followEvery is how soon a new record is seen.
// Polling works on every file system, also on network mounts that deliver no events, and costs one
// read of nothing per reader.
const followEvery = 200 * time.Millisecond

// Follow reads the records after a place in their order, over all segments, and waits
// for new ones until ctx ends. Each is seen at least once by whoever keeps Entry.Cursor
// when it has dealt with the entry, and goes on from there after a restart; a record may
// come again, with the same number, and the later one counts. After a LostError the
// sequence goes on with what there is; any other error ends it.
func (s Source) Follow(ctx context.Context, from Cursor) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := &follower{source: s, at: from, yield: yield, buf: make([]byte, segment.BlockSize), sum: chain.NewSummer()}
		defer f.close()
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if err := f.read(ctx); err != nil {
				if !errors.Is(err, errEnough) {
					yield(Entry{}, err)
				}
				return
			}
			timer.Reset(followEvery)
		}
	}
}

// errEnough ends a reader whose caller wants no more.
var errEnough = errors.New("no more is wanted")

// errElsewhere means that a cursor's offset is not where its record ends: the file was
// moved away, or lines were taken back. The segment is read from its beginning then.
var errElsewhere = errors.New("the cursor is not between two records")

// follower is a reader under way.
// It is for one goroutine. Its states are: no segment open (in is nil), reading, and at the end of
// what there is; from there it looks for a successor, or whether the file was replaced.
type follower struct {
	source Source
	at     Cursor
	yield  func(Entry, error) bool

	name   segment.Name   // of the open segment
	in     segment.Blocks // nil when none is open
	sought bool           // nothing has been read since the segment was opened at an offset
	anew   bool           // it was read anew, as what came after record tried did not fit
	tried  uint64
	last   bool // the segment has a successor, so that no more will come
	buf    []byte
	sum    *chain.Summer
}

// close closes the open segment, if there is one.
func (f *follower) close() {
	if f.in != nil {
		_ = f.in.Close() // only read from
		f.in = nil
	}
}

// read reads all there is now.
// It returns nil at the end of what there is, and errEnough when the caller stopped.
func (f *follower) read(ctx context.Context) error {
	for ctx.Err() == nil {
		if f.in == nil {
			if opened, err := f.open(); err != nil || !opened {
				return err
			}
		}
		block, err := f.in.Next(f.buf)
		switch {
		// The end of what there is now; advance decides whether it is the end of the segment.
		case errors.Is(err, io.EOF):
			if more, err := f.advance(); err != nil || !more {
				return err
			}
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", f.name.File(), err)
		}
		f.buf = f.buf[:cap(f.buf)]
		err = f.entries(ctx, block, f.in.Offset()-int64(len(block)))
		if errors.Is(err, errElsewhere) {
			err = f.again()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens the cursor's segment at its offset, or else the next one there is. It
// reports whether there is any.
// Without a cursor it is the oldest segment.
func (f *follower) open() (bool, error) {
	names, err := segment.List(f.source.Path)
	if err != nil {
		return false, err
	}
	for _, n := range names {
		offset := int64(0)
		switch c := f.compare(n); {
		case c < 0:
			continue
		case c == 0:
			offset = f.at.Offset
		}
		in, err := f.source.Dir().Open(n, offset)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return false, err
		}
		f.name, f.in, f.sought, f.last, f.anew = n, in, in.Offset() > 0, false, false
		return true, nil
	}
	return false, nil
}

// compare orders a segment and that of the cursor.
func (f *follower) compare(n segment.Name) int {
	at, ok := segment.ParseName(f.at.Segment)
	if !ok {
		return 1
	}
	return n.Compare(at)
}

// again reads the segment, or what has its name now, from its beginning.
func (f *follower) again() error {
	f.close()
	in, err := f.source.Dir().Open(f.name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // open finds what is there
	}
	if err != nil {
		return err
	}
	f.in, f.sought, f.last, f.anew, f.tried = in, false, false, true, f.at.Seq
	return nil
}

// advance is called at the end of what the segment holds now. It reports whether there
// may be more to read. A segment that is done with is looked at once more, since it may
// have grown until its successor was made.
// The writer makes the successor first and writes to it from then on, so that after one more look
// at the end nothing can follow here.
func (f *follower) advance() (bool, error) {
	// Other forms are not written to any more, or only by this gateway, and are not moved.
	p, ok := f.in.(*segment.Plain)
	moved := ok && p.Moved(f.name.Path(f.source.Path))
	next, err := f.successor()
	switch {
	case err != nil:
		return false, err
	case !moved && next == nil:
		return false, nil
	case !f.last:
		f.last = true
		return true, nil
	case moved:
		return true, f.again()
	}
	f.close()
	f.name = *next
	return true, f.again()
}

// successor is the segment after the open one, nil when there is none.
// The directory is listed each time: once in followEvery, and only at the end of a segment.
func (f *follower) successor() (*segment.Name, error) {
	names, err := segment.List(f.source.Path)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if n.Compare(f.name) > 0 {
			return &n, nil
		}
	}
	return nil, nil
}

// fits reports whether a line may be the one after the cursor's record. When lines of a
// failed write were read before they were taken back, others have their numbers now.
// Two records can be compared only where one follows the other; what is further on is taken as it
// is.
func (f *follower) fits(line []byte, seq uint64) bool {
	body, h, ok := chain.CutHash(line)
	if !ok || f.at.Hash == "" || f.at.Seq == 0 {
		return true
	}
	switch seq {
	case f.at.Seq:
		return h.String() == f.at.Hash
	case f.at.Seq + 1:
		var before chain.Link
		copy(before[:], f.at.Hash)
		return f.sum.Link(before, body) == h
	}
	return true
}

// stuck reports whether reading the segment anew has brought nothing.
func (f *follower) stuck() bool { return f.anew && f.tried == f.at.Seq }

// refit goes on with a line that does not fit: first the segment is read anew, then all
// of it is passed on again.
func (f *follower) refit(seq uint64) error {
	if !f.stuck() {
		return errElsewhere
	}
	if seq == f.at.Seq {
		f.at = Cursor{}
		return errElsewhere
	}
	return nil // somebody changed the files: that is for Verify to find
}

// entries passes on those of the lines that are after the cursor.
func (f *follower) entries(ctx context.Context, block []byte, offset int64) error {
	for line := range bytes.Lines(block) {
		offset += int64(len(line))
		line = line[:len(line)-1]
		seq, ok := chain.LastSeq(line)
		// After seeking, the first line must be the next record. Otherwise the offset led
		// elsewhere, and all of the segment is read, in which records up to the cursor are passed
		// over by their numbers.
		if f.sought && (!ok || seq != f.at.Seq+1) {
			return errElsewhere
		}
		f.sought = false
		if ok && !f.fits(line, seq) {
			if err := f.refit(seq); err != nil {
				return err
			}
		}
		switch {
		case !ok && !f.stuck():
			return errElsewhere
		case !ok:
			return fmt.Errorf("%s: before byte %d: it is no record of an audit log", f.name.File(), offset)
		case seq <= f.at.Seq:
			continue // seen before
		case seq > f.at.Seq+1 && f.at.Seq > 0:
			if !f.yield(Entry{}, &LostError{f.at.Seq + 1, seq - 1}) {
				return errEnough
			}
		}
		// The place is moved before the entry is handed out, so that a caller who stops has its
		// cursor.
		f.at = Cursor{Segment: f.name.File(), Offset: offset, Seq: seq}
		if _, h, ok := chain.CutHash(line); ok {
			f.at.Hash = h.String()
		}
		if !f.yield(Entry{Seq: seq, Line: line, Cursor: f.at}, nil) {
			return errEnough
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}
