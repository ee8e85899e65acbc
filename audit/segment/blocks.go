package segment

import (
	"errors"
	"fmt"
	"io"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// Blocks are the records of one segment.
// A caller reads like this, and gets a later buffer back when a line did not fit into the first:
//
//	buf := make([]byte, BlockSize)
//	for { lines, err := b.Next(buf); … }
//
// The lines are valid until the next call, which reuses the buffer.
type Blocks interface {
	// next returns the next whole lines, in buf or in a larger buffer that takes its
	// place, and io.EOF when there are none: in a segment that is being written to,
	// there may be some later.
	Next(buf []byte) ([]byte, error)
	// offset is how far the lines that were returned reach from the beginning of the
	// segment, as it is when it is neither compressed nor encrypted.
	Offset() int64
	// rest is how many bytes follow them, which are not whole.
	Rest() int64
	io.Closer
}

// BlockSize is how much is read at once.
// 256 KiB: large enough that the system calls cost nothing beside hashing, small enough that a
// reader per segment costs little memory.
const BlockSize = 256 << 10

// ErrChanged means that a segment cannot be what the gateway wrote.
// Readers that serve others end with it; the verification reports it as a finding.
var ErrChanged = errors.New("it is not what was written")

var errNoLine = fmt.Errorf("%w: a line is longer than any record, %d bytes", ErrChanged, chain.LongestRecord)
