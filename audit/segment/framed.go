package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// framed is an encrypted segment: a line that says how it is encrypted, and frames of at most
// frameMost bytes, each with its length before it. A frame that is not whole stays unread, like
// a torn line. Frames are sealed with their numbers, so that none can be left out, put
// elsewhere or brought from another file without being noticed.
// Offsets are those of the plain lines: a cursor that was taken from an encrypted segment means the
// same in a compressed copy of it.
type framed struct {
	f      *os.File
	keys   []Key
	cipher *decrypter // nil before the first line was read
	at     int64      // in the file
	plain  int64      // in what was encrypted
	sealed []byte
}

func (p *framed) Offset() int64 { return p.plain }
func (p *framed) Close() error  { return p.f.Close() }

// Rest is how many bytes are there and were not read: those of a frame that is being written,
// or that a crash cut off.
func (p *framed) Rest() int64 {
	info, err := p.f.Stat()
	if err != nil {
		return 0
	}
	return max(info.Size()-p.at, 0)
}

// Next reads frames until half of the buffer is full, since the next may fill as much. What
// was read before an error is given first; the error comes again with the next call.
// One frame is at most as long as the longest record and a batch, which bounds the buffer.
func (p *framed) Next(buf []byte) ([]byte, error) {
	out := buf[:0]
	for len(out) < cap(buf)/2 {
		more, err := p.frame(out)
		if err != nil && len(out) > 0 {
			break // it comes again
		}
		if err != nil {
			return nil, err
		}
		p.plain += int64(len(more) - len(out))
		out = more
	}
	return out, nil
}

// frame appends what is in the next frame. The length is not authenticated by itself, so it is
// bounded before anything is made room for.
func (p *framed) frame(dst []byte) ([]byte, error) {
	if err := p.begin(); err != nil {
		return nil, err
	}
	// The length is big-endian, as everything binary in this format is.
	var size [frameHead]byte
	if err := p.readAt(size[:], p.at); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > frameMost {
		return nil, fmt.Errorf("%w: encrypted part %d is longer than any", ErrChanged, p.cipher.frame+1)
	}
	if cap(p.sealed) < n {
		p.sealed = make([]byte, n)
	}
	if err := p.readAt(p.sealed[:n], p.at+frameHead); err != nil {
		return nil, err
	}
	out, err := p.cipher.open(dst, p.sealed[:n])
	if err == nil {
		p.at += int64(frameHead + n)
	}
	return out, err
}

// begin reads the first line, once. A line that is not whole yet is the beginning of a file
// that is being made: there is nothing to be read of it for now, which is no error.
func (p *framed) begin() error {
	if p.cipher != nil {
		return nil
	}
	// The first line is about 130 bytes. A file whose first line is longer is none of this format,
	// and newDecrypter says so.
	line := make([]byte, 512)
	n, err := p.f.ReadAt(line, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	end := bytes.IndexByte(line[:n], '\n')
	switch {
	case end < 0 && n < len(line):
		return io.EOF
	case end < 0:
		end = n - 1
	}
	if p.cipher, err = newDecrypter(line[:end], p.keys); err == nil {
		p.at = int64(end) + 1
	}
	return err
}

// readAt reads all or, as io.EOF says, nothing.
func (p *framed) readAt(buf []byte, at int64) error {
	n, err := p.f.ReadAt(buf, at)
	switch {
	case n == len(buf):
		return nil
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// frameReader is what was encrypted as one stream.
// It lets the unpacker, which wants an io.Reader, read across frames.
type frameReader struct {
	in    *framed
	block []byte
	buf   []byte
}

// Read implements io.Reader.
func (r *frameReader) Read(p []byte) (int, error) {
	for len(r.block) == 0 {
		if r.buf == nil {
			r.buf = make([]byte, BlockSize)
		}
		var err error
		if r.block, err = r.in.Next(r.buf); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.block)
	r.block = r.block[n:]
	return n, nil
}
