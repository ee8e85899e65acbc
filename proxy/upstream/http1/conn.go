package http1

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
)

// conn is one connection. It belongs to the request it was taken for, or to the pool.
type conn struct {
	net.Conn
	origin    origin
	in        reader
	raw       syscall.RawConn      // of the descriptor; nil where there is none
	tls       *tls.ConnectionState // nil in plaintext
	secured   *tls.Conn            // likewise
	socket    net.Conn             // beneath all TLS
	abort     func()               // ends reads and writes of now and later
	used      bool                 // it has had a request
	idleSince time.Time
	closed    atomic.Bool
	watch     atomic.Pointer[netpoll.Watch] // while an answer on it has been parked
	resume    func()                        // of that answer

	// Made once, where they would be made for each call.
	peek  func(fd uintptr) bool
	alive bool // what peek found
}

// newConn takes over a connection that was dialled, with its TLS handshake done.
// The socket beneath all TLS is found once: it is what can be peeked at, and closed without
// waiting for TLS.
func newConn(nc net.Conn, at origin) *conn {
	c := &conn{Conn: nc, origin: at}
	c.in.from = nc
	c.abort = func() { _ = nc.SetDeadline(past) } // one that is closed is ended already
	beneath := nc
	if t, ok := nc.(*tls.Conn); ok {
		state := t.ConnectionState()
		c.tls, c.secured = &state, t
	}
	for { // a proxy that is spoken to by TLS adds another
		t, ok := beneath.(*tls.Conn)
		if !ok {
			break
		}
		beneath = t.NetConn()
	}
	c.socket = beneath
	if s, ok := beneath.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn()
	}
	c.peek = func(fd uintptr) bool {
		c.alive = silent(fd)
		return true
	}
	if c.secured == nil && c.raw != nil {
		c.in.wait = newWaiter(c.raw)
	}
	return c
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// quiet reports whether a connection that nobody uses may have another request: it is
// open, and nothing has come on it that nobody asked for. In TLS that may be a message
// about keys, which is not worth finding out.
//
// It costs one recv with MSG_PEEK, less than a microsecond, and spares most of the requests that
// would fail on a connection the agent closed while it was idle.
func (c *conn) quiet() bool {
	return c.raw != nil && c.raw.Read(c.peek) == nil && c.alive
}

// clean reports whether nothing of an answer is left, after its end: what is, is no
// request's answer. What TLS has in its own buffer is asked for without waiting.
//
// A deadline in the past makes the read of TLS return what it holds decrypted, and nothing else.
// Any byte, and any error but the deadline's, means that the connection is not to be used again.
func (c *conn) clean() bool {
	if c.in.buffered() > 0 {
		return false
	}
	if c.secured == nil {
		return true
	}
	var one [1]byte
	if c.SetReadDeadline(past) != nil {
		return false
	}
	n, err := c.secured.Read(one[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.SetReadDeadline(time.Time{}) == nil
}

// resumed is called when a parked answer has more to be read.
func (c *conn) resumed() { c.resume() }

// unwatch ends what Park has begun, and a wait with it.
//
// It may be called by several goroutines; the first takes the watch.
func (c *conn) unwatch() {
	if w := c.watch.Swap(nil); w != nil {
		w.Close()
	}
}

// close ends a connection. It may be called more than once, and while others read.
func (c *conn) close() {
	if !c.closed.CompareAndSwap(false, true) {
		return
	}
	defer c.unwatch()
	if c.secured != nil {
		// The alert that ends TLS in good order would wait behind a request's bytes that
		// an agent does not take. HTTP says itself what is complete.
		_ = c.socket.Close()
		return
	}
	_ = c.Close()
}
