package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// Records reads the records after a place as Follow does, and ends where there are no
// more for now.
// It is for what ends: a query, a test, an export.
func (s Source) Records(ctx context.Context, from Cursor) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := &follower{source: s, at: from, yield: yield, buf: make([]byte, segment.BlockSize), sum: chain.NewSummer()}
		defer f.close()
		if err := f.read(ctx); err != nil && !errors.Is(err, errEnough) {
			yield(Entry{}, err)
		}
	}
}

// Segments lists the segments there are, in their order, as cursors name them.
// They are in the order of their records, without their form: "audit-2026-11-22.jsonl" also where
// the file is compressed.
func (s Source) Segments() ([]string, error) {
	names, err := segment.List(s.Path)
	if err != nil {
		return nil, err
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = n.File()
	}
	return all, nil
}

// Needs reports whether a segment, by its file name, may have records behind the place.
// A cursor or a file with a name that is none counts as needing everything: what is kept too long
// does no harm, and what is removed too early is lost.
func (c Cursor) Needs(file string) bool {
	at, ok := segment.ParseName(c.Segment)
	n, is := segment.ParseName(file)
	return !ok || !is || n.Compare(at) >= 0
}

// Sync returns when the disk has what a segment holds now. Without it a reader may be
// ahead of the disk, and after a loss of power there would be other records with the
// numbers of those that it has read.
func (s Source) Sync(file string) error {
	n, ok := segment.ParseName(file)
	if !ok {
		return errNotThere
	}
	// Both forms are looked for: a file may have been written before encryption was configured.
	for _, n.Form = range []segment.Form{segment.AsWritten, segment.Encrypted} { // what is compressed is on the disk
		f, err := os.Open(n.Path(s.Path))
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

// errNotThere says that a place holds no such record (any more).
var errNotThere = errors.New("the record is not there any more")

// Place is where a record is.
// An index keeps it without the hash: the number and the bytes around the record are compared
// instead.
type Place struct {
	Cursor // behind it

	Length int // in bytes, without its newline
}

// start is where the record begins in its segment.
func (p Place) start() int64 { return p.Offset - int64(p.Length) - 1 }

// Lines are the records at places, in their order; nil where a place leads to another
// record or to nothing. A segment that is compressed or encrypted is read from its
// beginning to the last of its places, once.
func (s Source) Lines(places []Place) ([][]byte, error) {
	lines := make([][]byte, len(places))
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(places[a].Segment, places[b].Segment), cmp.Compare(places[a].Offset, places[b].Offset))
	})
	var reading errgroup.Group
	reading.SetLimit(readers)
	// Places of one segment are next to each other in the sorted order, so that each segment is
	// opened once.
	for len(order) > 0 {
		n := 1
		for n < len(order) && places[order[n]].Segment == places[order[0]].Segment {
			n++
		}
		here := order[:n]
		reading.Go(func() error { return s.linesIn(places, here, lines) })
		order = order[n:]
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	return lines, nil
}

// readers is how many segments are read at a time: what is asked for may be spread over
// hundreds, and disks are the faster the more they are asked for.
const readers = 8

// linesIn reads those of one segment, whose places are in the order of the segment. A segment
// that is not there any more leaves its lines nil, as the index has yet to learn of it.
// order has the positions in places, and in lines, of those that lie in this segment.
func (s Source) linesIn(places []Place, order []int, lines [][]byte) error {
	n, ok := segment.ParseName(places[order[0]].Segment)
	if !ok {
		return nil
	}
	in, err := s.Dir().Open(n, max(places[order[0]].start(), 0))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	// Of a file that is as it was written any part can be read by itself.
	if written, ok := in.(*segment.Plain); ok {
		return linesOf(written, places, order, lines)
	}
	buf := make([]byte, segment.BlockSize)
	for len(order) > 0 {
		block, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", n.File(), err)
		}
		buf = block[:cap(block)]
		begin := in.Offset() - int64(len(block))
		for len(order) > 0 && places[order[0]].Offset <= in.Offset() {
			p := places[order[0]]
			lines[order[0]] = lineIn(block, p.start()-begin, p)
			order = order[1:]
		}
	}
	return nil
}

// linesOf reads the records at places and nothing between them, which may be most of a disk.
func linesOf(p *segment.Plain, places []Place, order []int, lines [][]byte) error {
	var buf []byte
	for _, k := range order {
		at := places[k]
		// One byte more than the record, so that lineIn can see that a line ends there.
		from := max(at.start()-1, 0) // where the line before ends
		if at.Length < 1 || at.Length > chain.LongestRecord || at.start() < 0 {
			continue
		}
		buf = slices.Grow(buf[:0], int(at.Offset-from))[:at.Offset-from]
		n, err := p.ReadAt(buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", at.Segment, err)
		}
		lines[k] = lineIn(buf[:n], at.start()-from, at)
	}
	return nil
}

// lineIn is the record of a place in a block of whole lines, nil where it is another. A place
// comes from an index, which may be older than the files or made of others: nothing of it is
// taken for granted.
// The line is copied, since the block is overwritten by the next.
func lineIn(block []byte, at int64, p Place) []byte {
	end := at + int64(p.Length)
	if p.Length < 1 || at < 0 || end >= int64(len(block)) || block[end] != '\n' || at > 0 && block[at-1] != '\n' {
		return nil
	}
	line := bytes.Clone(block[at:end])
	if seq, ok := chain.LastSeq(line); !ok || seq != p.Seq {
		return nil
	}
	return line
}
