package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// bufferSize is what is read at once. Answers' heads are shorter nearly always, and small
	// answers as a whole.
	bufferSize = 4 << 10
	// largeSize is what is read at once where the read before has left something.
	largeSize = 16 << 10
)

var (
	buffers      = sync.Pool{New: func() any { return new([bufferSize]byte) }}
	largeBuffers = sync.Pool{New: func() any { return new([largeSize]byte) }}
)

// newBuffer is one to read into, a large one where much is to come.
func newBuffer(large bool) []byte {
	if large {
		b, _ := largeBuffers.Get().(*[largeSize]byte)
		return b[:]
	}
	b, _ := buffers.Get().(*[bufferSize]byte)
	return b[:]
}

// release gives a buffer back. Those of other sizes are not kept.
func release(b []byte) {
	switch len(b) {
	case bufferSize:
		buffers.Put((*[bufferSize]byte)(b))
	case largeSize:
		largeBuffers.Put((*[largeSize]byte)(b))
	}
}

// reader reads answers. It has a buffer only while there is something in it, or while it
// waits for what must be waited for with one.
type reader struct {
	from io.Reader
	wait *waiter // instead of from where there is nothing in the buffer; nil for none
	buf  []byte  // nil for none
	r, w int     // what is between them is still to be read
	full bool    // the last read may have left something
}

// buffered is how much there is to read without waiting.
func (b *reader) buffered() int { return b.w - b.r }

// peeked is what there is to read without waiting.
func (b *reader) peeked() []byte { return b.buf[b.r:b.w] }

// drop lets go of the buffer, with what is in it.
func (b *reader) drop() {
	release(b.buf)
	b.buf, b.r, b.w = nil, 0, 0
}

// fill waits for more. There is room for up to most bytes that have not been read.
//
// most is a promise of the caller's: it refuses what is longer, so that the buffer never grows
// beyond it by more than a factor of two.
func (b *reader) fill(most int) error {
	if b.r == b.w {
		b.drop()
		if b.wait != nil {
			var err error
			b.buf, b.w, err = b.wait.read(b.full)
			b.full = b.w == len(b.buf)
			return err
		}
	}
	b.room(most)
	n, err := b.from.Read(b.buf[b.w:])
	b.w += n
	b.full = b.w == len(b.buf)
	if n > 0 {
		return nil // the error comes again
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// room makes some behind what is in the buffer.
//
// It moves what is unread to the front before it makes a larger buffer, and doubles from there.
func (b *reader) room(most int) {
	switch {
	case b.buf == nil:
		b.buf = newBuffer(b.full)
	case b.w < len(b.buf):
	case b.r > 0:
		b.w = copy(b.buf, b.peeked())
		b.r = 0
	default:
		larger := make([]byte, min(2*len(b.buf), max(most, len(b.buf)+1)))
		copy(larger, b.buf)
		release(b.buf)
		b.buf = larger
	}
}

// cut is the end of a connection, where something should have come.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read implements io.Reader. What is long is not buffered.
//
// Where p is large the bytes go straight into it. Where it is small and the socket can be waited
// for, the wait comes first and without a buffer.
func (b *reader) Read(p []byte) (int, error) {
	if b.buffered() == 0 {
		if b.wait == nil || len(p) >= bufferSize {
			b.drop()
			n, err := b.from.Read(p)
			b.full = n == len(p)
			return n, err
		}
		if err := b.fill(bufferSize); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.peeked())
	if b.r += n; b.r == b.w {
		b.drop()
	}
	return n, nil
}

// ErrFraming is about an answer that is not written as HTTP/1.1 wants it, or is larger
// than what is read.
var ErrFraming = errors.New("the agent's answer is not framed as HTTP wants it")

func broken(why string) error { return fmt.Errorf("%w: %s", ErrFraming, why) }

// head reads up to and with the next empty line, and copies it: most bytes at most.
//
// It is one copy for the whole head: names and values are cut from the string later. looked
// remembers how far the search has come, so that a head which arrives byte by byte is not
// searched again from its beginning.
func (b *reader) head(most int) (string, error) {
	begin, looked := 0, 0 // of the line, and at what
	for {
		unread := b.peeked()
		for {
			i := bytes.IndexByte(unread[looked:], '\n')
			if i < 0 {
				break
			}
			end := looked + i
			looked = end + 1
			switch {
			case looked > most:
				return "", broken("its head is too large")
			case end == begin || unread[end-1] != '\r':
				return "", broken("a line does not end with CR and LF")
			case end == begin+1:
				b.r += looked
				return string(unread[:looked]), nil
			}
			begin = looked
		}
		if looked = len(unread); looked >= most {
			return "", broken("its head is too large")
		}
		if err := b.fill(most); err != nil {
			return "", cut(err)
		}
	}
}

// line reads one line, without its end, of most bytes at most with it. It is good until
// the next read.
func (b *reader) line(most int) ([]byte, error) {
	for looked := 0; ; {
		unread := b.peeked()
		i := bytes.IndexByte(unread[looked:], '\n')
		if end := looked + i; i >= 0 {
			switch {
			case end >= most:
				return nil, broken("a line is too long")
			case end == 0 || unread[end-1] != '\r':
				return nil, broken("a line does not end with CR and LF")
			}
			b.r += end + 1
			return unread[:end-1], nil
		}
		if looked = len(unread); looked >= most {
			return nil, broken("a line is too long")
		}
		if err := b.fill(most); err != nil {
			return nil, cut(err)
		}
	}
}
