package http1

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
)

// Server serves connections, each in the goroutine that calls Serve. Its fields are set
// before the first one and not changed after.
type Server struct {
	Handler http.Handler
	Log     *slog.Logger

	Header time.Duration // that a head may take once its first byte has come, and the first request of a connection in all
	Idle   time.Duration // until a connection without a request is closed
	Write  time.Duration // that a write may take, unless the handler has set a deadline

	// Linger is asked when an answer was given before all of its request had come. Without
	// it, connections are closed at once then, and reset.
	Linger func() Linger

	// HTTP2 takes connections that speak HTTP/2, with what was read of them unread again.
	HTTP2 func(*strict.Conn)

	mu    sync.Mutex
	conns map[*conn]struct{}
	ended atomic.Bool // by Shutdown or Close
}

// Serve serves a connection until it ends, or until somebody else has it: HTTP2, or who
// called Leave. Requests have contexts of ctx, and state is that of TLS, nil without.
func (s *Server) Serve(ctx context.Context, nc *strict.Conn, state *tls.ConnectionState) {
	c := newConn(s, nc)
	s.track(c)
	defer s.untrack(c)
	defer func() {
		if cause := recover(); cause != nil { // not the handler's, which answer has contained
			s.panicked(cause)
			_ = nc.Close()
		}
	}()
	c.serve(ctx, state)
}

// panicked logs a panic with where it was. The connection ends; the process goes on.
func (s *Server) panicked(cause any) {
	s.Log.Error("http server", "detail", "panic while a request was served", "cause", cause, "stack", string(debug.Stack()))
}

// track counts c in, so that Shutdown finds it.
func (s *Server) track(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[*conn]struct{}{}
	}
	// In the map first: a Shutdown that begins now finds it there.
	s.conns[c] = struct{}{}
	if s.ended.Load() { // it came in between
		c.closeIdle()
	}
}

// untrack is for a connection that has ended or is somebody else's.
func (s *Server) untrack(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Shutdown has every connection end with the answer that it is busy with, closes those
// without a request, and waits for the others. When ctx ends first it returns its error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.ended.Store(true)
	// Polling costs nothing but at a shutdown; a condition variable would cost each request.
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for s.closeIdle() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}

// closeIdle closes connections without a request, and says how many others there are.
func (s *Server) closeIdle() (busy int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if !c.closeIdle() {
			busy++
		}
	}
	return busy
}

// Close closes all connections at once, beneath TLS, which would have a last word to those
// who do not listen. It does not wait for handlers.
func (s *Server) Close() {
	s.ended.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = beneath(c.nc).Close()
	}
}
