package http2

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http2/hpack"
)

// stream is a request and its answer. It is made anew for each: what a handler has left
// behind may refer to it.
type stream struct {
	id       uint32
	conn     *conn
	request  *http.Request // nil for one whose head was too large
	url      url.URL
	response response
	body     body
	ctx      context.Context
	cancel   context.CancelFunc

	window int64         // what the client takes of the answer's body
	wake   chan struct{} // of who waits to write
	late   time.Time     // when a write is; zero for the server's limit
	sent   bool          // END_STREAM
	err    error         // why nothing more is sent, once that is so
	left   bool          // the answer goes on without its handler
	unread *time.Timer   // until the client is told that the rest of its request is not wanted
}

// newStream makes a stream that is not open yet. Its context is a child of the connection's:
// it ends with that, with a reset, and with the handler. Body and response are parts of the
// stream, so that a request is few allocations; none of them is used again for another request.
func newStream(c *conn, id uint32) *stream {
	st := &stream{id: id, conn: c}
	st.ctx, st.cancel = context.WithCancel(c.ctx)
	st.body.stream, st.body.receive, st.body.declared = st, streamWindow, -1
	st.response.stream, st.response.length = st, -1
	st.response.header = make(http.Header, 8)
	return st
}

// serve has the handler answer, and ends the stream unless its answer goes on elsewhere. Either way
// the handler does not run any more, and another request may.
func (st *stream) serve() {
	whole := st.handle()
	if !st.left {
		st.end(whole)
		return
	}
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
}

// end ends the answer, well where all of it has been written, and the stream with it.
func (st *stream) end(whole bool) {
	c := st.conn
	if whole {
		st.response.finish()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !st.left {
		c.running--
	}
	st.body.drop()
	st.response.over = true
	if st.err == nil && !st.sent { // what is not over by now never will be
		name := ""
		if !whole {
			name = "handler_panic"
		}
		st.close(&streamError{st.id, codeInternal, name}, true)
	}
	st.cancel()
	c.flush()
}

// handle calls the handler, and contains what that stumbles over: the stream is reset, others on
// the connection go on. It reports whether the handler has come to its end.
func (st *stream) handle() (whole bool) {
	defer func() {
		if whole {
			return
		}
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // it is compared so by all
			st.conn.server.panicked(cause)
		}
	}()
	if st.request == nil {
		http.Error(&st.response, "the request head is too large", http.StatusRequestHeaderFieldsTooLarge)
		return true
	}
	st.conn.server.Handler.ServeHTTP(&st.response, st.request)
	return true
}

// close ends the stream for a reason, and tells the client if it is to be told. It is called
// with the lock, as all of the following.
func (st *stream) close(err error, tell bool) {
	if st.err != nil {
		return
	}
	c := st.conn
	st.err = err
	if st.unread != nil {
		st.unread.Stop()
	}
	if tell {
		c.queue(appendReset(nil, st.id, resetCode(err)))
	}
	delete(c.streams, st.id)
	c.recent.add(st.id, tell)
	st.body.fail(err)
	if err != errLate { //nolint:errorlint // it is no error of anybody's
		st.cancel()
	}
	st.wakeWriter()
	if len(c.streams) == 0 {
		c.idle = time.Now()
		c.finish()
	}
}

// resetCode is what a client is told that a stream was reset for: CANCEL where it was not for
// anything that the client has done.
func resetCode(err error) code {
	if of, ok := err.(*streamError); ok { //nolint:errorlint // made here
		return of.code
	}
	return codeCancel
}

// settle ends a stream of which both sides have sent all. No frame says so: each side knows by the
// two that it has seen.
func (st *stream) settle() {
	if st.sent && st.body.ended {
		st.close(errLate, false)
	}
}

// endSent is for an answer that is out, END_STREAM included. What the client has yet to send
// of its request is not wanted (RFC 9113 §8.1): NO_ERROR tells it to stop, and that the answer is
// good, where another code would have clients throw it away. It is told after a moment, in which it can
// read the answer and end a request that its window has room for: curl before 8.1 throws away the answer
// of a stream that is reset before it has sent its body, whatever the code.
func (st *stream) endSent() {
	st.sent = true
	switch {
	case st.err != nil:
	case st.body.ended:
		st.close(errLate, false)
	case st.unread == nil:
		st.unread = time.AfterFunc(farewell, st.unwanted)
	}
}

// unwanted tells a client that has its answer to send no more of its request.
func (st *stream) unwanted() {
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	st.close(&streamError{st.id, codeNo, ""}, true)
	c.flushAside()
}

// write queues p as DATA, with END_STREAM if it is the end, as the windows let it; what is queued last the
// caller flushes, with what follows it. It waits where the client takes no more, until the time for that is over, which resets
// the stream.
//
// An empty p with end is a frame that no window holds back. Beyond mostQueued it waits although
// windows are open: what was queued is memory of the gateway's until the client has read it, and
// one stream must not have all of it.
func (st *stream) write(p []byte, end bool) error {
	c := st.conn
	var late time.Time
	for {
		if st.err != nil {
			return st.err
		}
		n := min(int64(len(p)), c.window, st.window, maxFrame)
		if (n > 0 || len(p) == 0) && c.queued() < mostQueued {
			last := end && n == int64(len(p))
			st.queueData(p[:n], last)
			c.window -= n
			st.window -= n
			if p = p[n:]; last {
				st.endSent()
			}
			if len(p) == 0 {
				return nil
			}
			continue
		}
		if !c.writing && c.queued() > 0 {
			c.flush()
			continue
		}
		if late.IsZero() {
			late = time.Now().Add(c.server.Write)
		}
		if err := st.await(late); err != nil {
			st.close(err, true)
			c.flush()
			return err
		}
	}
}

// queueData queues one DATA frame, head and payload in one append. The payload is copied, as it is the
// handler's, which may use its memory again once Write has returned.
func (st *stream) queueData(p []byte, end bool) {
	flags := byte(0)
	if end {
		flags = flagEndStream
	}
	c := st.conn
	if c.frames == nil {
		c.frames = takeBuffer()
	}
	*c.frames = append(appendFrame(*c.frames, frameData, flags, st.id, len(p)), p...)
}

// await gives up the lock until something has changed, or until it is too late. The handler's own
// deadline goes before the server's limit. It says nothing of what has changed: who waited looks
// at the windows again, since another stream may have been faster.
func (st *stream) await(late time.Time) error {
	if !st.late.IsZero() {
		late = st.late
	}
	left := time.Until(late)
	if left <= 0 {
		return os.ErrDeadlineExceeded
	}
	c := st.conn
	if st.wake == nil {
		st.wake = make(chan struct{}, 1)
	}
	c.waiting = append(c.waiting, st)
	timer := time.NewTimer(left)
	c.mu.Unlock()
	select {
	case <-st.wake:
	case <-timer.C:
	}
	timer.Stop()
	c.mu.Lock()
	return nil
}

// wakeWriter has who waits in await look again. The channel holds one signal, so that one that
// comes just before somebody waits is not lost.
func (st *stream) wakeWriter() {
	if st.wake == nil {
		return
	}
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// head queues the answer's head, or its trailers with no status, unless the stream has ended.
func (st *stream) head(status int, h http.Header, more []hpack.HeaderField, end bool) {
	if st.err != nil {
		return
	}
	st.conn.queueHead(st.id, status, h, more, end)
}
