package http2

import (
	"context"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/wrapped"
)

// Left is an answer that goes on after its handler has returned. The stream stays open, and is
// counted as one, until End or Abort, of which one is called, once, as the last that is done
// with it. It is for one goroutine at a time.
//
// A stream that waits for hours otherwise holds the stack that its handler has grown, its
// request and its header for as long.
type Left struct{ w *response }

// Leave gives the answer that a handler has begun and flushed to who goes on with it after the
// handler has returned. Nobody uses w and the request's body any more. It is not ok, and nothing has
// happened, where w is not of this package, its request has not been read to its end, the
// answer says how long it is, or the stream has ended.
func Leave(w http.ResponseWriter) (l *Left, ok bool) {
	r, ours := wrapped.Find[*response](w)
	if !ours || r.length >= 0 || r.status == 0 || r.silent() || r.held != nil {
		return nil, false
	}
	st := r.stream
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !r.out || r.over || st.err != nil || !st.body.ended {
		return nil, false
	}
	st.body.drop()
	st.left, st.request, st.late = true, nil, time.Time{}
	r.header = nil // it is out
	return &Left{r}, true
}

// Context ends with the stream, which the client may reset, and with the connection.
func (l *Left) Context() context.Context { return l.w.stream.ctx }

// Header implements http.ResponseWriter. What is set in it with http.TrailerPrefix is sent at
// the end.
func (l *Left) Header() http.Header {
	if l.w.header == nil {
		l.w.header = http.Header{}
	}
	return l.w.header
}

// WriteHeader implements http.ResponseWriter. The head is out.
func (l *Left) WriteHeader(int) {}

// Write sends p at once. After an error nothing is sent any more.
func (l *Left) Write(p []byte) (int, error) { return l.w.Write(p) }

// FlushError is for http.ResponseController: all has been.
func (l *Left) FlushError() error { return nil }

// SetWriteDeadline is for http.ResponseController. It bounds how long a write waits for the
// client to take more of this stream.
func (l *Left) SetWriteDeadline(t time.Time) error { return l.w.SetWriteDeadline(t) }

// End ends the answer, with its trailers.
func (l *Left) End() { l.w.stream.end(true) }

// Abort resets the stream (INTERNAL_ERROR), so that the client notices that the answer is not
// whole.
func (l *Left) Abort() { l.w.stream.end(false) }
