package server

import (
	"context"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/http2"
)

// Detached is the answer to a request that goes on after its handler has returned. For as
// long as a handler runs, there are a buffer, the request and the stack of a goroutine that
// has been through all of it: ten times of what an answer needs that waits for something to
// happen.
//
// It is the http.ResponseWriter of the rest of the body. What is set in its header is sent
// only behind the body, as a trailer of HTTP/2 with http.TrailerPrefix. Shutdown waits for
// it as for any other request. One of End and Abort is called, once, and is the last that is done
// with it.
type Detached interface {
	http.ResponseWriter
	// Context ends when the client goes away, or with the server.
	Context() context.Context
	// FlushError and SetWriteDeadline are for http.ResponseController.
	FlushError() error
	SetWriteDeadline(at time.Time) error
	// End ends the answer, well where all of it has been written.
	End()
	// Abort cuts the answer off, so that the client notices.
	Abort()
}

// Detach takes over the answer to the request that a handler serves, which has been begun
// and flushed. Nobody may use w and the request's body after that; the context ends when the
// client goes away, as the request's own did. It is not ok, and nothing has happened, where
// that cannot be done, as while the request has not been read to its end.
func Detach(w http.ResponseWriter, r *http.Request) (d Detached, ok bool) {
	c, _ := r.Context().Value(connKey{}).(*conn)
	if c == nil || !wholly(r) {
		return nil, false
	}
	if r.ProtoMajor == 1 {
		return detachConn(c, w, r)
	}
	left, ok := http2.Leave(w)
	if !ok {
		return nil, false
	}
	s := c.from.server
	s.inflight.Add(1)
	return &detachedStream{left, s}, true
}

// wholly reports whether a request has been read to its end.
func wholly(r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return true
	}
	b, ok := r.Body.(*pacedBody)
	return ok && b.over
}

// detachedStream is the Detached of a stream of an HTTP/2 connection, which others may have their
// streams on.
type detachedStream struct {
	*http2.Left

	server *Server
}

// End implements Detached.
func (d *detachedStream) End() {
	defer d.server.inflight.Add(-1)
	d.Left.End()
}

// Abort implements Detached.
func (d *detachedStream) Abort() {
	defer d.server.inflight.Add(-1)
	d.Left.Abort()
}
