package reader

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// Knows reports whether a place is one of this log: whoever went on from another would take
// records for those that it has seen. Such a place is behind the end of the log, or behind a
// record that is another one here, when the directory was restored from a copy, or is older
// than what the reader keeps elsewhere. Of a record that was removed or moved away nothing
// can be told, as long as the log goes on behind it.
// It looks, in this order, where the cursor says, in the segment that it names, in all segments,
// and last whether the log has come that far at all.
func (s Source) Knows(c Cursor) (bool, error) {
	if c.Seq == 0 {
		return true, nil
	}
	h, found, err := s.hashAt(c)
	if n, ok := segment.ParseName(c.Segment); ok && !found && err == nil {
		h, found, _, err = s.hashIn(n, c.Seq)
	}
	if !found && err == nil {
		h, found, err = s.HashOf(c.Seq)
	}
	if found || err != nil {
		return h.String() == c.Hash || c.Hash == "", err
	}
	// The record is not there. Behind the end of the log nothing can be; before it, it was removed.
	end, err := s.End()
	if err != nil || end.Seq >= c.Seq {
		return true, err
	}
	head, err := chain.ReadHead(filepath.Join(s.Path, chain.HeadFile)) // numbers go on behind it
	return head != nil && head.Seq >= c.Seq, err
}

// hashAt is the hash of the record before a place, if it is there, in a file that is as it
// was written: of others all would have to be read.
func (s Source) hashAt(c Cursor) (h chain.Link, found bool, err error) {
	n, ok := segment.ParseName(c.Segment)
	if !ok {
		return h, false, nil
	}
	in, err := s.Dir().Open(n, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	defer func() { _ = in.Close() }() // only read from
	written, ok := in.(*segment.Plain)
	if !ok {
		return h, false, nil
	}
	from := max(c.Offset-chain.LongestRecord, 0)
	lines, err := io.ReadAll(io.NewSectionReader(written, from, c.Offset-from))
	if err != nil || int64(len(lines)) < c.Offset-from || !bytes.HasSuffix(lines, []byte("\n")) {
		return h, false, err
	}
	last, _ := chain.LastOf(lines)
	return last.Hash, last.Record && last.Seq == c.Seq, nil
}

// HashOf is the hash of the record with a number, wherever it is. It is looked for in the
// newest segment that does not begin behind it.
// found is false for a record that is not there (any more), with no error.
func (s Source) HashOf(seq uint64) (h chain.Link, found bool, err error) {
	names, err := segment.List(s.Path)
	if err != nil {
		return h, false, err
	}
	for _, n := range slices.Backward(names) {
		var before bool
		if h, found, before, err = s.hashIn(n, seq); found || before || err != nil {
			return h, found, err
		}
	}
	return h, false, nil
}

// hashIn looks for it in one segment, and reports whether that begins before it.
// before says that the segment has records with smaller numbers, so that older ones need not be
// searched.
func (s Source) hashIn(n segment.Name, seq uint64) (h chain.Link, found, before bool, err error) {
	in, err := s.Dir().Open(n, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, false, nil
	}
	if err != nil {
		return h, false, false, err
	}
	defer func() { _ = in.Close() }() // only read from
	buf := make([]byte, segment.BlockSize)
	for {
		block, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			return h, false, before, nil
		}
		if err != nil {
			return h, false, before, err
		}
		for line := range bytes.Lines(block) {
			switch at, ok := chain.LastSeq(line); {
			case ok && at == seq:
				_, h, _ = chain.CutHash(line[:len(line)-1])
				return h, true, true, nil
			case ok && at > seq && !before:
				return h, false, false, nil
			}
			before = true
		}
	}
}
