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
	if err := x.parse(ctx, begin, c.buf[c.begin:c.begin+n]); err != nil {
		c.refuse(err)
		return false
	}
	c.consume(n)
	x.body.conn, x.body.x = c, x
	x.body.over = x.request.ContentLength == 0
	x.response.begin(c, x, cancel)
	c.disconnectWatch.begin(c, &x.body, cancel)
	whole := c.handle(x)
	c.disconnectWatch.end()
	w := &x.response
	switch {
	case w.left:
		return false
	case !whole:
		w.drop()
		c.close(&x.body)
		return false
	}
	w.finish()
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
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // it is compared so by all
			c.server.panicked(cause)
		}
	}()
	c.server.Handler.ServeHTTP(&x.response, x.request)
	return true
}

// drained reads what the handler has left of the body, and reports whether that was all.
func (c *conn) drained(x *exchange) bool {
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
		if !w.limited {
			w.conn.limit()
		}
		_, w.err = w.conn.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
}
