package reader

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// Last returns the places before the last n records and behind the last, for Follow. A log
// with fewer is shown from its beginning.
// Segments are read whole from the newest backwards until there are enough; on a busy gateway that
// is one.
func (s Source) Last(n int) (before, end Cursor, err error) {
	names, err := segment.List(s.Path)
	if err != nil {
		return before, end, err
	}
	var places []Cursor // the last ones, in order
	for _, seg := range slices.Backward(names) {
		found, err := s.lastOf(seg, 0, n+1)
		if err != nil {
			return before, end, err
		}
		places = append(found, places...)
		// One more than n is wanted: the place before the first of them is that behind its
		// predecessor.
		if len(places) > n {
			break
		}
	}
	if len(places) > 0 {
		end = places[len(places)-1]
	}
	if len(places) > n {
		before = places[len(places)-1-n]
	}
	return before, end, nil
}

// End returns the place behind the last record, for Follow. Of a file that is as it was
// written no more than the end is read.
// The zero Cursor is returned for an empty log.
func (s Source) End() (Cursor, error) {
	names, err := segment.List(s.Path)
	if err != nil {
		return Cursor{}, err
	}
	for _, seg := range slices.Backward(names) {
		var from int64
		if info, err := os.Stat(seg.Path(s.Path)); err == nil { // lastOf says what else is wrong
			from = max(info.Size()-chain.LongestRecord, 0)
		}
		places, err := s.lastOf(seg, from, 1)
		if err != nil {
			return Cursor{}, err
		}
		if len(places) > 0 {
			return places[0], nil
		}
	}
	return Cursor{}, nil
}

// lastOf returns the places behind the last n records of a segment. Of one that is as it was
// written only the part behind an offset is looked at, which may begin within a line.
func (s Source) lastOf(seg segment.Name, from int64, n int) ([]Cursor, error) {
	in, err := s.Dir().Open(seg, from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // removed meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	var places []Cursor
	buf := make([]byte, segment.BlockSize)
	for {
		block, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			return places, nil
		}
		if err != nil {
			return nil, err
		}
		offset := in.Offset() - int64(len(block))
		for line := range bytes.Lines(block) {
			offset += int64(len(line))
			if seq, ok := chain.LastSeq(line); ok {
				_, h, _ := chain.CutHash(line[:len(line)-1])
				places = append(places, Cursor{Segment: seg.File(), Offset: offset, Seq: seq, Hash: h.String()})
			}
		}
		if extra := len(places) - n; extra > 0 {
			places = slices.Delete(places, 0, extra)
		}
	}
}
