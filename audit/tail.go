package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

var errNoRecord = errors.New("no complete record in its tail")

// tail says how a segment ends.
type tail struct {
	seq     uint64     // of the last complete record, 0 when there is none
	hash    chain.Link // of that record; none in files of versions that did not chain them
	segment string     // file that holds it
	torn    bool       // bytes of an incomplete record follow: a crash came between
}

// readTail looks at the end of a segment. A file whose end is no record at all
// is an error: to go on numbering from 1 would hide that something is wrong.
func readTail(path string) (tail, error) {
	f, err := os.Open(path) //nolint:gosec // in the log's directory
	if err != nil {
		return tail{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return tail{}, err
	}
	start := max(info.Size()-chain.LongestRecord, 0)
	end, err := io.ReadAll(io.NewSectionReader(f, start, chain.LongestRecord))
	if err != nil {
		return tail{}, err
	}
	t, ok := parseTail(end, start == 0)
	if !ok {
		return tail{}, fmt.Errorf("%s: %w", path, errNoRecord)
	}
	return t, nil
}

// parseTail reads the end of a segment; whole says that it is all of it.
func parseTail(end []byte, whole bool) (tail, bool) {
	if len(end) == 0 {
		return tail{}, whole
	}
	t := tail{torn: end[len(end)-1] != '\n'}
	complete := end[:bytes.LastIndexByte(end, '\n')+1]
	if len(complete) == 0 { // nothing but a torn first record
		return t, whole
	}
	line := complete[:len(complete)-1]
	begin := bytes.LastIndexByte(line, '\n') + 1
	if begin == 0 && !whole {
		return tail{}, false
	}
	var ok bool
	t.seq, ok = chain.LastSeq(line[begin:])
	_, t.hash, _ = chain.CutHash(line[begin:])
	return t, ok
}

// findTail returns how the newest segment ends, with the number of the last
// complete record of them all. Segments without a record are passed over: one
// is left when a crash comes right after it was made.
func (d Dir) findTail(names []name) (tail, error) {
	var newest tail
	for i := len(names) - 1; i >= 0; i-- {
		t, err := d.tailOf(names[i])
		if err != nil {
			return tail{}, err
		}
		if i == len(names)-1 {
			newest = t
		}
		if t.seq > 0 {
			newest.seq, newest.hash, newest.segment = t.seq, t.hash, names[i].file()
			break
		}
	}
	return newest, nil
}

// tailOf looks at the end of a segment in any form.
func (d Dir) tailOf(n name) (tail, error) {
	if n.form == asWritten {
		return readTail(n.path(d.Path))
	}
	in, err := d.openSegment(n, 0)
	if err != nil {
		return tail{}, err
	}
	defer func() { _ = in.Close() }() // only read from
	var t tail
	buf := make([]byte, blockSize)
	for {
		lines, err := in.next(buf)
		if errors.Is(err, io.EOF) {
			t.torn = in.rest() > 0
			return t, nil
		}
		if err != nil {
			return tail{}, fmt.Errorf("%s: %w", n.path(d.Path), err)
		}
		last, _ := chain.LastOf(lines)
		t.seq, t.hash = last.Seq, last.Hash
	}
}
