package http1

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
)

// phase is what comes next of a body.
type phase uint8

const (
	none      phase = iota // nothing
	sized                  // as much as is left
	rest                   // everything until the connection is closed
	chunk                  // as much as is left, and then
	chunkEnd               // the end of the line
	chunkSize              // the next one's size, or that there is none, and then
	trailers               // fields
)

// Bounds of what stands around chunks.
const (
	mostLine     = 256     // bytes of the line with a chunk's size
	mostDigits16 = 8       // of the size itself
	mostTrailers = 8 << 10 // bytes of all trailers
)

// Read implements io.Reader. It is called by one goroutine at a time.
//
// Three things can happen while read waits: it ends well, and the state goes back to open; the
// body ends, and the connection is given back; or Close comes, and this goroutine, which still
// uses the buffer, lets go of it.
func (a *answer) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !a.state.CompareAndSwap(open, reading) {
		if a.last != nil {
			return 0, a.last
		}
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := a.read(p)
	if err == nil {
		if a.state.CompareAndSwap(reading, open) {
			return n, nil
		}
		a.conn.in.drop() // Close came meanwhile, and left it to us
		return 0, http.ErrBodyReadAfterClose
	}
	if !a.state.CompareAndSwap(reading, ended) {
		a.conn.in.drop()
		return 0, http.ErrBodyReadAfterClose
	}
	if a.last = err; errors.Is(err, io.EOF) {
		a.finish()
		return n, err
	}
	if cause := context.Cause(a.ctx); cause != nil {
		a.last = cause
	}
	a.discard()
	return n, a.last
}

// Close implements io.Closer. Before the body's end it ends the connection, and a Read
// that waits for it.
//
// It may be called more than once, and while Read waits. That Read then fails with
// ErrBodyReadAfterClose, as net/http's does.
func (a *answer) Close() error {
	switch a.state.Swap(ended) {
	case open:
		a.discard()
	case reading:
		if a.stop != nil {
			a.stop()
		}
		a.conn.close()
	}
	return nil
}

// Park has resume called, in a goroutine that may be kept, as soon as there is more of the
// body to be read, or it is closed. It is for readers who wait for long, and would rather do
// so without a goroutine. Who is resumed has to read: there is no second sign of what has
// come. It is false, and nothing happens, where that cannot be done, or there is more by now.
//
// Event streams are the reason. One that is silent for an hour would hold a goroutine, its stack
// and a read buffer; parked it holds a descriptor in the poller. TLS connections cannot be
// parked, as a byte on the socket need not be a byte of the body.
func (a *answer) Park(resume func()) bool {
	if !a.state.CompareAndSwap(open, reading) {
		return false // it is closed
	}
	w := a.watched(resume)
	if !a.state.CompareAndSwap(reading, open) {
		a.conn.unwatch()
		a.conn.in.drop() // Close came meanwhile, and left it to us
		return false
	}
	if w == nil {
		return false
	}
	for !w.Park() {
		if !a.conn.quiet() { // else it was told of what has been read
			return false
		}
	}
	return true
}

// watched prepares for a wait, and is nil where there can be none. Nobody else has the
// connection meanwhile.
func (a *answer) watched(resume func()) *netpoll.Watch {
	c := a.conn
	if c.secured != nil || c.raw == nil || c.in.buffered() > 0 || c.in.full && !c.quiet() {
		return nil
	}
	c.in.drop()
	c.in.full, c.resume = false, resume
	w := c.watch.Load()
	if w == nil {
		if w = netpoll.Of(c.raw, c.resumed); w != nil {
			c.watch.Store(w)
		}
		if c.closed.Load() { // maybe before it was watched, and without ending that
			c.unwatch()
		}
	}
	return w
}

// read reads some of the body. Its end comes with the last bytes if that is known by then.
func (a *answer) read(p []byte) (int, error) {
	switch a.phase {
	case sized:
		n, err := a.part(p)
		if err == nil && a.left == 0 {
			err = io.EOF
		}
		return n, err
	case rest:
		return a.conn.in.Read(p)
	}
	return a.chunks(p)
}

// part reads some of what is left, which must come.
func (a *answer) part(p []byte) (int, error) {
	n, err := a.conn.in.Read(p[:min(int64(len(p)), a.left)])
	a.left -= int64(n)
	if n > 0 {
		err = nil // it comes again if it matters
	}
	return n, cut(err)
}

// chunks reads as much as there is without waiting, and something in any case.
//
// It goes on into the next chunk only while that is in the buffer, so that an event is handed out
// as soon as it has come: a stream must not wait for the chunk behind it.
func (a *answer) chunks(p []byte) (n int, err error) {
	for {
		if n > 0 && (!a.ready() || n == len(p) && a.phase == chunk) {
			return n, nil
		}
		if a.phase == chunk {
			var m int
			if m, err = a.part(p[n:]); a.left == 0 {
				a.phase = chunkEnd
			}
			n += m
		} else {
			err = a.frame()
		}
		if err != nil {
			return n, err
		}
	}
}

// ready reports whether the next piece of a chunked body is there.
func (a *answer) ready() bool {
	switch b := a.conn.in.peeked(); a.phase {
	case chunk:
		return len(b) > 0
	case trailers:
		return bytes.HasPrefix(b, []byte("\r\n")) || bytes.Contains(b, []byte("\r\n\r\n"))
	default:
		return bytes.IndexByte(b, '\n') >= 0
	}
}

// frame reads what stands between chunks and behind them. io.EOF is the body's end.
func (a *answer) frame() error {
	if a.phase == trailers {
		return a.readTrailers()
	}
	line, err := a.conn.in.line(mostLine)
	switch {
	case err != nil:
		return err
	case a.phase == chunkEnd && len(line) > 0:
		return broken("a chunk is longer than it says")
	case a.phase == chunkEnd:
		a.phase = chunkSize
		return nil
	}
	if a.left, err = size(line); a.left == 0 {
		a.phase = trailers
	} else {
		a.phase = chunk
	}
	return err
}

// size reads "1f;extension" (RFC 9112 §7.1). Extensions, and spaces with which some agents
// make room for longer sizes, are allowed and mean nothing.
//
// At most eight hexadecimal digits are read, as no chunk of 4 GiB is sent by anybody in good
// faith, and longer numbers overflow in some readers.
func size(line []byte) (int64, error) {
	i := 0
	for i < len(line) && i <= mostDigits16 && isHex(line[i]) {
		i++
	}
	n, err := strconv.ParseUint(string(line[:i]), 16, 63)
	if err != nil || i > mostDigits16 {
		return 0, broken("a chunk's size is not a number")
	}
	if behind := bytes.TrimLeft(line[i:], " \t"); len(behind) > 0 && behind[0] != ';' {
		return 0, broken("a chunk's size is not a number")
	}
	if bytes.ContainsFunc(line[i:], func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return 0, broken("a chunk has control characters before it")
	}
	return int64(n), nil // 32 bits
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// readTrailers ends a body of chunks. Fields that would be about its length are refused:
// it has been read.
//
// gRPC's status does not come here (gRPC is HTTP/2); trailers over HTTP/1.1 are passed over by
// A2A, and are read to find the body's end.
func (a *answer) readTrailers() error {
	text, err := a.conn.in.head(mostTrailers)
	if err != nil {
		return err
	}
	if text == "\r\n" {
		return io.EOF
	}
	found, err := fields(text, nil)
	if err != nil {
		return err
	}
	for _, name := range framing {
		if found[name] != nil {
			return broken("its trailers are about its length")
		}
	}
	if a.Trailer == nil {
		a.Trailer = found
		return io.EOF
	}
	for name, values := range found {
		a.Trailer[name] = values
	}
	return io.EOF
}
