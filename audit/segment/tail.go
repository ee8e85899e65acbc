package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

var errNoRecord = errors.New("no complete record in its tail")

// Tail says how a segment ends.
// The zero Tail is that of an empty directory: the next record is number 1 and follows from
// nothing.
type Tail struct {
	Seq     uint64     // of the last complete record, 0 when there is none
	Hash    chain.Link // of that record; none in files of versions that did not chain them
	Segment string     // file that holds it
	Torn    bool       // bytes of an incomplete record follow: a crash came between
}

// readTail looks at the end of a segment. A file whose end is no record at all
// is an error: to go on numbering from 1 would hide that something is wrong.
// Only the last two megabytes are read: a segment may be hundreds of megabytes, and the gateway
// does not start before this is known.
func readTail(path string) (Tail, error) {
	f, err := os.Open(path) //nolint:gosec // in the log's directory
	if err != nil {
		return Tail{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return Tail{}, err
	}
	start := max(info.Size()-chain.LongestRecord, 0)
	end, err := io.ReadAll(io.NewSectionReader(f, start, chain.LongestRecord))
	if err != nil {
		return Tail{}, err
	}
	t, ok := parseTail(end, start == 0)
	if !ok {
		return Tail{}, fmt.Errorf("%s: %w", path, errNoRecord)
	}
	return t, nil
}

// parseTail reads the end of a segment; whole says that it is all of it.
func parseTail(end []byte, whole bool) (Tail, bool) {
	if len(end) == 0 {
		return Tail{}, whole
	}
	t := Tail{Torn: end[len(end)-1] != '\n'}
	// What is behind the last newline is a record that a crash cut off. It was never acknowledged
	// with durability sync, and the next record begins in another file, so that it stays as
	// evidence.
	complete := end[:bytes.LastIndexByte(end, '\n')+1]
	if len(complete) == 0 { // nothing but a torn first record
		return t, whole
	}
	line := complete[:len(complete)-1]
	begin := bytes.LastIndexByte(line, '\n') + 1
	if begin == 0 && !whole {
		return Tail{}, false
	}
	var ok bool
	t.Seq, ok = chain.LastSeq(line[begin:])
	_, t.Hash, _ = chain.CutHash(line[begin:])
	return t, ok
}

// Tail returns how the newest segment ends, with the number of the last
// complete record of them all. Segments without a record are passed over: one
// is left when a crash comes right after it was made.
func (d Dir) Tail(names []Name) (Tail, error) {
	var newest Tail
	for i := len(names) - 1; i >= 0; i-- {
		t, err := d.tailOf(names[i])
		if err != nil {
			return Tail{}, err
		}
		if i == len(names)-1 {
			newest = t
		}
		if t.Seq > 0 {
			newest.Seq, newest.Hash, newest.Segment = t.Seq, t.Hash, names[i].File()
			break
		}
	}
	return newest, nil
}

// tailOf looks at the end of a segment in any form.
func (d Dir) tailOf(n Name) (Tail, error) {
	if n.Form == AsWritten {
		return readTail(n.Path(d.Path))
	}
	// A compressed or encrypted file cannot be read from the end; it is read through. That happens
	// at a start after which no plain segment is left, and when files are removed.
	in, err := d.Open(n, 0)
	if err != nil {
		return Tail{}, err
	}
	defer func() { _ = in.Close() }() // only read from
	var t Tail
	buf := make([]byte, BlockSize)
	for {
		lines, err := in.Next(buf)
		if errors.Is(err, io.EOF) {
			t.Torn = in.Rest() > 0
			return t, nil
		}
		if err != nil {
			return Tail{}, fmt.Errorf("%s: %w", n.Path(d.Path), err)
		}
		last, _ := chain.LastOf(lines)
		t.Seq, t.Hash = last.Seq, last.Hash
	}
}
