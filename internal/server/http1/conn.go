package http1

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
)

// conn is one connection. All but state belongs to the goroutine that serves it, and while
// a handler runs to that handler.
type conn struct {
	server *Server
	nc     *strict.Conn
	remote string
	state  atomic.Int32

	block  *[]byte // of the pool; what was read is in it, unless a head was too large for it
	buf    []byte  // that is read into
	begin  int     // of what was read and not used
	end    int     // of what was read
	parted bool    // HTTP2, or who called Leave, has it

	disconnectWatch disconnectWatch
}

// What state says.
const (
	idle      int32 = iota // no byte of a request has come
	busy                   // one has
	closed                 // while it was idle
	lingering              // all was answered, and more comes
	leaving                // likewise, while the server shuts down
)

// blockSize is what most heads, and calls with them, have room in.
const blockSize = 4 << 10

var blocks = sync.Pool{New: func() any {
	b := make([]byte, blockSize)
	return &b
}}

// newConn takes a block of the pool, which free gives back.
func newConn(s *Server, nc *strict.Conn) *conn {
	c := &conn{server: s, nc: nc, remote: nc.RemoteAddr().String()}
	c.block, _ = blocks.Get().(*[]byte)
	c.buf = *c.block
	return c
}

// free gives the block back. Nobody reads or writes any more.
func (c *conn) free() {
	if c.block != nil {
		blocks.Put(c.block)
		c.block, c.buf = nil, nil
	}
}

// closeIdle closes c if it is idle, and reports whether it was.
func (c *conn) closeIdle() bool {
	// A byte that comes at this moment loses: head finds the state changed and answers nothing.
	if c.state.CompareAndSwap(idle, closed) {
		go c.nc.Close() // TLS may wait for a while until its last word is taken
		return true
	}
	c.hurry()
	return c.state.Load() == closed
}

// serve is requests and answers, one after the other. Their contexts have one of the
// connection's over them, and not that of all connections, which each would lock.
func (c *conn) serve(ctx context.Context, state *tls.ConnectionState) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.free()
	// What all requests of the connection have in common; parse copies it.
	begin := http.Request{RemoteAddr: c.remote, TLS: state}
	for first := true; ; first = false {
		n, err := c.head(first)
		if err != nil {
			if !c.parted {
				c.refuse(err)
			}
			return
		}
		if !c.answer(ctx, &begin, n) {
			return
		}
		c.state.CompareAndSwap(busy, idle)
		// Shutdown may have passed by while it was busy.
		if c.server.ended.Load() && c.closeIdle() {
			return
		}
	}
}

var (
	errParted = errors.New("the connection is somebody else's")
	errQuiet  = errors.New("nothing is answered")
)

// head waits for the next head and returns how long it is, with the empty line at its end.
// The first of a connection has no more time until it is there than others have from their
// first byte on.
func (c *conn) head(first bool) (int, error) {
	if c.begin == c.end {
		// A connection between requests may be quiet longer than one that has never sent any. A head
		// that comes byte by byte (slowloris) has one deadline, which no byte moves.
		wait := c.server.Idle
		if first {
			wait = c.server.Header
		}
		_ = c.nc.SetReadDeadline(time.Now().Add(wait)) // else the read fails
	}
	seen := 0 // of what was read, where no head ends
	for begun := false; ; {
		if have := c.buf[c.begin:c.end]; len(have) > 0 {
			if !begun && !c.state.CompareAndSwap(idle, busy) {
				return 0, errQuiet
			}
			// Only what is new is searched, and three bytes before it: the four may come in pieces.
			if at := bytes.Index(have[seen:], []byte("\r\n\r\n")); at >= 0 {
				return seen + at + 4, nil
			}
			seen = max(len(have)-3, 0)
			if !begun && !first {
				_ = c.nc.SetReadDeadline(time.Now().Add(c.server.Header)) // likewise
			}
			begun = true
		}
		if err := c.fill(); err != nil {
			return 0, c.untold(err)
		}
		if c.nc.HTTP2() {
			return 0, c.part()
		}
	}
}

// part gives the connection away to where HTTP/2 is spoken.
func (c *conn) part() error {
	c.parted = true
	// The preface of HTTP/2 has been read, and belongs to who speaks it.
	c.nc.Unread(bytes.Clone(c.buf[c.begin:c.end]))
	_ = c.nc.SetReadDeadline(time.Time{})
	c.server.HTTP2(c.nc)
	return errParted
}

// untold is what is left of an error of a read before a head was whole: who sent nothing,
// was too slow or is gone is told nothing.
func (c *conn) untold(err error) error {
	var broken *strict.Broken
	switch {
	case errors.As(err, &broken):
		return err
	case errors.Is(err, io.EOF) && c.begin < c.end:
		return io.ErrUnexpectedEOF
	}
	return errQuiet
}

// fill reads more, into room that it makes. It fails where nothing more comes; strict knows
// when a head is too large.
func (c *conn) fill() error {
	switch {
	case c.begin == c.end:
		c.begin, c.end = 0, 0
	// Room at the front is used before a larger buffer is.
	case c.end == len(c.buf) && c.begin > 0:
		c.end = copy(c.buf, c.buf[c.begin:c.end])
		c.begin = 0
	case c.end == len(c.buf):
		larger := make([]byte, 2*len(c.buf))
		copy(larger, c.buf)
		c.buf = larger
	}
	n, err := c.nc.Read(c.buf[c.end:])
	c.end += n
	if n > 0 {
		return nil
	}
	return err
}

// consume takes n bytes from what was read. A buffer that one head had made larger is not
// kept beyond what it holds.
func (c *conn) consume(n int) {
	c.begin += n
	// One large head in a million must not hold its memory while the connection waits for hours.
	if c.begin == c.end && len(c.buf) > blockSize {
		c.buf, c.begin, c.end = *c.block, 0, 0
	}
}

// refuse answers who has sent what is no request, where there is something to be said, and
// closes the connection.
func (c *conn) refuse(err error) {
	defer c.nc.Close()
	status, text := http.StatusBadRequest, "the request head is malformed"
	var broken *strict.Broken
	var target *url.Error
	switch {
	case errors.Is(err, errQuiet):
		return
	case errors.Is(err, errExpectation):
		status, text = http.StatusExpectationFailed, "Expect may only say 100-continue"
	// strict says what is wrong in words of its own, none of them the client's.
	case errors.As(err, &broken):
		status, text = broken.Status, broken.Text
	case errors.As(err, &target): // which repeats what the client sent
		text = "the request target is not a URI"
	}
	// A client that never reads would hold the goroutine.
	c.limit()
	if _, err := c.nc.Write(refusal(status, text)); err == nil {
		c.linger()
	}
}

// limit starts the time of a write that no handler has set one for: a client that reads
// nothing would hold the connection for good. What fails here fails in the write.
func (c *conn) limit() { _ = c.nc.SetWriteDeadline(time.Now().Add(c.server.Write)) }

// beneath is the connection without what reads or ciphers it.
func beneath(nc net.Conn) net.Conn {
	for {
		over, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = over.NetConn()
	}
}
