package http1

import (
	"context"
	"net/http"
	"time"
)

// answer has the handler answer the request whose head are the next n bytes, and reports
// whether another one may come on the connection. If not, it is closed, or somebody else's.
func (c *conn) answer(ctx context.Context, begin *http.Request, n int) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &exchange{}
	// The head is a string of its own after this, and its bytes in the buffer are free.
	if err := x.parse(ctx, begin, c.buf[c.begin:c.begin+n]); err != nil {
		c.refuse(err)
		return false
	}
	c.consume(n)
	x.body.conn, x.body.x = c, x
	x.body.over = x.request.ContentLength == 0
	x.response.begin(c, x, cancel)
	// From here to end the context ends with the client; before and after, head reads and finds out.
	c.disconnectWatch.begin(c, &x.body, cancel)
	whole := c.handle(x)
	c.disconnectWatch.end()
	w := &x.response
	switch {
	case w.left:
		return false
	// It has panicked: half an answer with an end that looks well would be taken for a whole one.
	case !whole:
		w.drop()
		c.close(&x.body)
		return false
	}
	w.finish()
	// What is left of the body stands before the next request, and must not be read as one.
	if w.err == nil && !w.closes && c.drained(x) {
		return true
	}
	c.hangUp(w, &x.body)
	return false
}

// handle reports whether the handler has come to its end.
func (c *conn) handle(x *exchange) (whole bool) {
	defer func() {
		if whole {
			return
		}
		// ErrAbortHandler is how a handler cuts its answer off on purpose.
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // it is compared so by all
			c.server.panicked(cause)
		}
	}()
	c.server.Handler.ServeHTTP(&x.response, x.request)
	return true
}

// drained reads what the handler has left of the body, and reports whether that was all.
func (c *conn) drained(x *exchange) bool {
	// Nearly always: no body, or one that was read.
	if x.body.ended() {
		return true
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(c.server.Header)) // else the read fails
	scrap, _ := blocks.Get().(*[]byte)
	defer blocks.Put(scrap)
	return x.body.drain(*scrap)
}

// hangUp closes the connection, and sees to it that the client has the answer first, who
// may be sending what nobody reads: the rest of a body, or requests behind the last one.
func (c *conn) hangUp(w *response, b *body) {
	if w.err == nil && (!b.ended() || c.begin < c.end) {
		c.linger()
	}
	c.close(b)
}

// close closes the connection, and waits for whom the handler may have left behind reading:
// that ends with the connection, and must not read into what another one has by then.
func (c *conn) close(b *body) {
	// The connection first: b.Close waits for a read that is under way, which ends with it.
	_ = c.nc.Close()
	_ = b.Close()
}

// invite answers a client's Expect: 100-continue, once, and where no answer has begun.
func (x *exchange) invite() {
	if !x.expects {
		return
	}
	x.expects = false
	if w := &x.response; !w.sent && w.err == nil {
		// An interim answer, before the head of the answer (RFC 9110 §15.2.1).
		if !w.limited {
			w.conn.limit()
		}
		_, w.err = w.conn.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
}
