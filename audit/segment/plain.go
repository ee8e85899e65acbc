package segment

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// Plain is a segment as it was written. What of it is no whole line stays unread: it
// is torn, or the rest of it is still to come.
// It reads by position (pread) and not by a file offset, so that readers can share an open file and
// a line that is completed later is read from its beginning.
type Plain struct {
	f  *os.File
	at int64
}

// ReadAt reads any part of the file, as io.ReaderAt: where a record ends is known to who asks.
func (p *Plain) ReadAt(buf []byte, at int64) (int, error) { return p.f.ReadAt(buf, at) }

func (p *Plain) Offset() int64 { return p.at }
func (p *Plain) Close() error  { return p.f.Close() }

// Rest is how many bytes of a torn line are at the end; 0 where it has been completed meanwhile.
func (p *Plain) Rest() int64 {
	rest, err := io.ReadAll(io.NewSectionReader(p.f, p.at, chain.LongestRecord))
	if err != nil || bytes.IndexByte(rest, '\n') >= 0 { // lines that came meanwhile
		return 0
	}
	return int64(len(rest))
}

// Next reads whole lines. A line that does not fit gets a larger buffer, up to the longest that a record
// can be.
func (p *Plain) Next(buf []byte) ([]byte, error) {
	for {
		n, err := p.f.ReadAt(buf, p.at)
		if end := bytes.LastIndexByte(buf[:n], '\n') + 1; end > 0 {
			p.at += int64(end)
			return buf[:end], nil
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case n < len(buf):
			return nil, io.EOF
		case len(buf) > chain.LongestRecord:
			return nil, errNoLine
		}
		// The line may be longer than the buffer. Doubling reads it in a few attempts, and the
		// bound above ends that for a file without newlines.
		buf = make([]byte, 2*len(buf)+1)
	}
}

// Moved reports whether another file has the name of this one now, or is shorter than
// what was read: lines of a write that failed are taken back.
func (p *Plain) Moved(path string) bool {
	here, err := p.f.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(path)
	return err == nil && (!os.SameFile(here, there) || there.Size() < p.at)
}
