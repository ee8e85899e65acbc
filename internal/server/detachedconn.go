package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
	"github.com/a2a-gateway/a2a-gateway/internal/server/http1"
	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
)

// detachedConn is the Detached of an HTTP/1.1 connection. It writes what is left of the answer;
// nobody else does by then. The client sees no difference: after End the connection is served
// as before as soon as the next request comes.
type detachedConn struct {
	nc      *strict.Conn
	conn    *conn
	chunked bool
	ctx     context.Context
	cancel  context.CancelCauseFunc
	header  http.Header
	watch   *netpoll.Watch // of the client's socket; nil where a goroutine reads it

	mu     sync.Mutex
	stage  stage
	lasts  bool   // another request may come
	ahead  []byte // of it, which have come
	heard  bool   // nobody listens any more
	failed bool   // what was written did not arrive
	one    [1]byte
}

// stage is where an answer is.
type stage uint8

const (
	answering stage = iota
	resting         // for the next request
	done            // with the connection
)

// detachConn takes over the HTTP/1.1 connection c of the answer that w writes.
func detachConn(c *conn, w http.ResponseWriter, r *http.Request) (t *detachedConn, ok bool) {
	t = &detachedConn{conn: c, chunked: r.ProtoAtLeast(1, 1)}
	t.lasts = t.chunked && !r.Close && w.Header().Get("Connection") == ""
	if t.nc, t.ahead, ok = http1.Leave(w); !ok {
		return nil, false
	}
	s := c.from.server
	t.ctx, t.cancel = context.WithCancelCause(s.base)
	s.inflight.Add(1)
	s.detached.add(t)
	t.await()
	return t, true
}

// await has listen called when there is something to listen to. What TLS has read already
// is no sign of it, but the start of another request, which has time. By now Shutdown may
// have closed the connection.
func (t *detachedConn) await() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stage == done {
		return
	}
	if raw, err := t.conn.SyscallConn(); err == nil && len(t.ahead) == 0 {
		t.watch = netpoll.Of(raw, t.listen)
	}
	if t.watch == nil || !t.watch.Park() {
		go t.listen()
	}
}

// Context ends with the client, or with the server.
func (t *detachedConn) Context() context.Context { return t.ctx }

// listen finds out that the client has gone, or sends another request. It reads no more than
// a byte before the answer is done.
func (t *detachedConn) listen() {
	n, err := t.nc.Read(t.one[:])
	for n == 0 && err == nil {
		n, err = t.nc.Read(t.one[:])
	}
	if t.watch != nil {
		t.watch.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = true
	if n > 0 {
		t.ahead = append(t.ahead, t.one[0])
	}
	// What is no request is answered too, once this answer is done.
	var broken *strict.Broken
	more := len(t.ahead) > 0 || errors.As(err, &broken)
	switch {
	case t.stage == resting && more:
		t.give()
	case t.stage == resting:
		t.close()
	case t.stage == answering && !more:
		t.lasts = false
		t.cancel(nil)
	}
}

// Header implements http.ResponseWriter. Nothing that is set is sent.
func (t *detachedConn) Header() http.Header {
	if t.header == nil {
		t.header = http.Header{}
	}
	return t.header
}

// WriteHeader implements http.ResponseWriter. The head is out.
func (t *detachedConn) WriteHeader(int) {}

// FlushError is for http.ResponseController: all has been.
func (t *detachedConn) FlushError() error { return nil }

// SetWriteDeadline is for http.ResponseController.
func (t *detachedConn) SetWriteDeadline(at time.Time) error { return t.nc.SetWriteDeadline(at) }

// Write sends p at once. After an error nothing is sent any more.
func (t *detachedConn) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n := min(len(p)-written, largestChunk)
		if err := t.send(p[written : written+n]); err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

const (
	// largestChunk is what is written at once.
	largestChunk = 32 << 10
	// aroundChunk is what stands around it, at most.
	aroundChunk = 16
)

var pieces = sync.Pool{New: func() any {
	b := make([]byte, 0, largestChunk+aroundChunk)
	return &b
}}

func (t *detachedConn) send(p []byte) error {
	var err error
	if !t.chunked {
		_, err = t.nc.Write(p)
	} else {
		b, _ := pieces.Get().(*[]byte)
		*b = strconv.AppendUint((*b)[:0], uint64(len(p)), 16)
		*b = append(*b, "\r\n"...)
		*b = append(*b, p...)
		*b = append(*b, "\r\n"...)
		_, err = t.nc.Write(*b)
		pieces.Put(b)
	}
	if err != nil {
		t.mu.Lock()
		t.failed = true
		t.mu.Unlock()
	}
	return err
}

// End ends the answer, well where all of it has been written. It is called once, and is
// the last that is done with t.
func (t *detachedConn) End() {
	t.mu.Lock()
	whole := !t.failed && t.ctx.Err() == nil
	t.mu.Unlock()
	s := t.conn.from.server
	if whole && t.chunked {
		_ = t.nc.SetWriteDeadline(time.Now().Add(s.live.Load().timeouts.Write.Std()))
		_, err := t.nc.Write([]byte("0\r\n\r\n"))
		_ = t.nc.SetWriteDeadline(time.Time{})
		whole = err == nil
	}
	t.leave(whole)
}

// Abort cuts the answer off, so that the client notices.
func (t *detachedConn) Abort() { t.leave(false) }

func (t *detachedConn) leave(whole bool) {
	s := t.conn.from.server
	defer s.inflight.Add(-1)
	defer t.cancel(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.stage == done:
	case !whole || !t.lasts || s.shutting():
		t.close()
	case t.heard: // and there is something ahead, or it would not last
		t.give()
	case len(t.ahead) > 0:
		t.stage = resting
		_ = t.nc.SetReadDeadline(time.Unix(1, 0)) // so that listen gives it
	default:
		t.stage = resting
		_ = t.nc.SetReadDeadline(time.Now().Add(s.live.Load().timeouts.Idle.Std()))
		if t.watch != nil {
			t.watch.Wake() // to read until then
		}
	}
}

func (t *detachedConn) close() {
	t.stage = done
	t.conn.from.server.detached.remove(t)
	if t.watch != nil {
		t.watch.Close()
	}
	go t.nc.Close() // TLS may wait for a while until its last word is taken
}

// give has the next request on the connection served.
func (t *detachedConn) give() {
	t.stage = done
	s := t.conn.from.server
	s.detached.remove(t)
	t.nc.Unread(t.ahead)
	s.expect(t.conn)
	go s.serve1(t.conn, t.nc)
}
