package http1

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// body is that of a request. Reads of it are reads of the connection: what was read with
// the head comes first, and large buffers of handlers are read into directly.
type body struct {
	mu      sync.Mutex // against handlers that leave a reader behind
	conn    *conn
	x       *exchange
	left    int64 // of the body, or of the chunk
	chunked bool
	part    part // of chunks, what comes next
	over    bool
	err     error // of the read that failed
	shut    bool  // the handler closed it, or has returned
}

// part is what comes next in a body of chunks.
type part uint8

const (
	size part = iota
	data
	dataEnd
	end
)

// Read implements io.Reader. Who waits for 100 Continue gets it with the first.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.shut:
		return 0, http.ErrBodyReadAfterClose
	case b.err != nil:
		return 0, b.err
	case b.over:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	// Only now is it certain that the handler wants the body (RFC 9110 §10.1.1).
	b.x.invite()
	return b.read(p)
}

// Close implements io.Closer. What is left is the server's to read.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	return nil
}

// forget is Close for a body that has been read, and lets go of the connection.
func (b *body) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut, b.conn = true, nil
}

// ended reports whether all of it has been read, and nobody is about to.
func (b *body) ended() bool {
	// A reader that the handler has left behind holds it, perhaps waiting for the client.
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	return b.over
}

// read reads some of what is left, and is io.EOF with the end.
func (b *body) read(p []byte) (int, error) {
	n, err := 0, error(nil)
	if !b.chunked || b.part == data {
		n, err = b.take(p)
	}
	if err == nil && b.chunked {
		err = b.advance(n == 0)
	} else if err == nil && b.left == 0 {
		b.over = true
	}
	switch {
	case err != nil:
		// The connection has ended before the body: not an end that a handler may take for one.
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		b.err = err
	case b.over:
		return n, io.EOF
	// Only the size of a chunk came; io.Reader discourages 0 and nil.
	case n == 0:
		return b.read(p)
	}
	return n, err
}

// take reads data, of which there is some.
func (b *body) take(p []byte) (n int, err error) {
	c := b.conn
	p = p[:min(int64(len(p)), b.left)]
	switch {
	case c.begin < c.end:
		n = copy(p, c.buf[c.begin:c.end])
		c.consume(n)
	// p is cut to what is left of the body or of the chunk, so that nothing behind that is
	// read. A small p goes through the buffer: one read of the kernel may bring more than it holds.
	case len(p) >= blockSize || int64(len(p)) == b.left && !b.chunked:
		n, err = c.nc.Read(p) // nothing behind the body comes with it
		if n > 0 {
			err = nil // it comes again
		}
	default:
		if err = c.fill(); err == nil {
			n = copy(p, c.buf[c.begin:c.end])
			c.consume(n)
		}
	}
	b.left -= int64(n)
	if b.left == 0 && b.part == data {
		b.part = dataEnd
	}
	return n, err
}

// advance reads what stands between data, as far as it is there, or where there is nothing
// to return yet, until there is data or the end. Strict has seen to its form.
func (b *body) advance(wait bool) error {
	c := b.conn
	for b.part != data && !b.over {
		if c.begin == c.end {
			if !wait {
				return nil
			}
			if err := c.fill(); err != nil {
				return err
			}
		}
		b.byte(c.buf[c.begin])
		c.consume(1)
	}
	return nil
}

// byte reads one of them.
func (b *body) byte(c byte) {
	switch {
	case c == '\r':
	case c == '\n' && b.part == dataEnd:
		b.part, b.left = size, 0
	case c == '\n' && b.part == end:
		b.over = true
	// The line with the size has ended: data, or with size 0 the trailers.
	case c == '\n' && b.left > 0:
		b.part = data
	case c == '\n':
		b.part = end
	default:
		b.left = b.left<<4 | int64(digit(c))
	}
}

// digit is what a hexadecimal one says.
func digit(c byte) byte {
	// 'A' is 0x41 and 'a' 0x61: the low four bits are 1 for both.
	if c >= 'A' {
		return c&0x0f + 9
	}
	return c & 0x0f
}

// drainMost is how much of a body that no handler has read is read for the sake of the next
// request. Who has sent more is told to come on another connection.
const drainMost = 256 << 10

// stays reports whether so much is left that the next request has to come on another
// connection, or nothing comes, since the client was not told to send it.
func (b *body) stays() bool {
	if !b.mu.TryLock() { // somebody whom the handler has left behind reads it
		return true
	}
	defer b.mu.Unlock()
	return !b.over && (b.x.expects || !b.chunked && b.left > drainMost)
}

// drain reads what is left, if that is not much, and reports whether it has come to the end.
func (b *body) drain(scrap []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true // for whom the handler has left behind
	// A client that sends without end is not drained without end.
	for read := 0; !b.over; {
		if b.err != nil || read > drainMost {
			return false
		}
		n, err := b.read(scrap)
		if read += n; err != nil && !errors.Is(err, io.EOF) {
			return false
		}
	}
	return true
}
