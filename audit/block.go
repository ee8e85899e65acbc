package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// blocks are the records of one segment.
type blocks interface {
	// next returns the next whole lines, in buf or in a larger buffer that takes its
	// place, and io.EOF when there are none: in a segment that is being written to,
	// there may be some later.
	next(buf []byte) ([]byte, error)
	// offset is how far the lines that were returned reach from the beginning of the
	// segment, as it is when it is neither compressed nor encrypted.
	offset() int64
	// rest is how many bytes follow them, which are not whole.
	rest() int64
	io.Closer
}

// blockSize is how much is read at once.
const blockSize = 256 << 10

// errChanged means that a segment cannot be what the gateway wrote.
var errChanged = errors.New("it is not what was written")

var errNoLine = fmt.Errorf("%w: a line is longer than any record, %d bytes", errChanged, longestRecord)

// plain is a segment as it was written. What of it is no whole line stays unread: it
// is torn, or the rest of it is still to come.
type plain struct {
	f  *os.File
	at int64
}

func (p *plain) offset() int64 { return p.at }
func (p *plain) Close() error  { return p.f.Close() }

// rest is how many bytes of a torn line are at the end; 0 where it has been completed meanwhile.
func (p *plain) rest() int64 {
	rest, err := io.ReadAll(io.NewSectionReader(p.f, p.at, longestRecord))
	if err != nil || bytes.IndexByte(rest, '\n') >= 0 { // lines that came meanwhile
		return 0
	}
	return int64(len(rest))
}

// next reads whole lines. A line that does not fit gets a larger buffer, up to the longest that a record
// can be.
func (p *plain) next(buf []byte) ([]byte, error) {
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
		case len(buf) > longestRecord:
			return nil, errNoLine
		}
		buf = make([]byte, 2*len(buf)+1)
	}
}

// moved reports whether another file has the name of this one now, or is shorter than
// what was read: lines of a write that failed are taken back.
func (p *plain) moved(path string) bool {
	here, err := p.f.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(path)
	return err == nil && (!os.SameFile(here, there) || there.Size() < p.at)
}
