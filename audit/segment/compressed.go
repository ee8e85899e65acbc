package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// faultReader keeps why there was no more to be read: what is compressed is not to blame for
// a key that is not there, or a disk that fails.
type faultReader struct {
	in    io.Reader
	fault error
}

// Read implements io.Reader. It remembers errors of the file, which the unpacker would report as its own.
func (r *faultReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.fault = err
	}
	return n, err
}

// compressed is a compressed segment, which nothing is written to any more.
// Lines do not end where blocks of the unpacker do, so that what is left behind the last newline is
// carried into the next block.
type compressed struct {
	from   faultReader
	file   *os.File
	in     *zstd.Decoder
	at     int64
	carry  []byte // begins a line that goes on in the next block
	ending error
}

func (u *compressed) Offset() int64 { return u.at }
func (u *compressed) Rest() int64   { return int64(len(u.carry)) }

// Close ends the unpacker, which has buffers of its own, and closes the file.
func (u *compressed) Close() error {
	if u.in != nil {
		u.in.Close()
	}
	return u.file.Close()
}

// Next unpacks whole lines. What is left behind the last one is the beginning of the next block. The
// window is bounded, since a file may have been written by somebody else.
func (u *compressed) Next(buf []byte) ([]byte, error) {
	if u.in == nil {
		var err error
		// A file may claim a window of gigabytes; the gateway writes 1 MiB.
		u.in, err = zstd.NewReader(&u.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, err
		}
	}
	for {
		n := copy(buf, u.carry)
		u.carry = u.carry[:0]
		for n < len(buf) && u.ending == nil {
			var k int
			k, u.ending = u.in.Read(buf[n:])
			n += k
		}
		end := bytes.LastIndexByte(buf[:n], '\n') + 1
		u.carry = append(u.carry, buf[end:n]...)
		switch {
		case end > 0:
			u.at += int64(end)
			return buf[:end], nil
		case errors.Is(u.ending, io.EOF):
			return nil, io.EOF
		case u.from.fault != nil:
			return nil, u.from.fault
		case u.ending != nil:
			return nil, fmt.Errorf("%w: it cannot be unpacked: %w", ErrChanged, u.ending)
		case len(buf) > chain.LongestRecord:
			return nil, errNoLine
		}
		buf = make([]byte, 2*len(buf)+1)
	}
}
