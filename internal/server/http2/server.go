package http2

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves connections, each in the goroutine that calls Serve. Its fields are set
// before the first one and not changed after.
type Server struct {
	Handler http.Handler
	Log     *slog.Logger

	Head    int    // bytes of the largest request head, names and values
	Streams uint32 // that a connection may have open at once

	Header time.Duration // that the preface may take, and each head from its first frame on
	Idle   time.Duration // until a connection without a stream is closed
	Write  time.Duration // that a write to the connection may take, and one that waits for a window, unless the handler has set a deadline
	Ping   time.Duration // after which a client with open streams that sends nothing is asked for a sign of life
	Pong   time.Duration // that this may take

	// Errors, if set, is called for every protocol error with a short name of [a-z0-9_].
	Errors func(name string)

	mu      sync.Mutex
	conns   map[*conn]struct{}
	ended   atomic.Bool // by Shutdown or Close
	workers workers
}

// Serve serves a connection until it ends, and returns when it is closed; handlers of streams that
// were reset may run on for a while, with their contexts ended. Requests have contexts of ctx, and
// state is that of TLS, nil without.
func (s *Server) Serve(ctx context.Context, nc net.Conn, state *tls.ConnectionState) {
	c := newConn(s, nc, state)
	ctx, c.cancel = context.WithCancel(ctx)
	c.ctx = ctx
	s.track(c)
	defer s.untrack(c)
	defer func() {
		if cause := recover(); cause != nil { // not a handler's, which run contains
			s.panicked(cause)
			if c.mu.TryLock() { // else it was held by what has panicked
				defer c.mu.Unlock()
			}
			c.fail(errClosed)
		}
	}()
	c.serve()
}

// panicked logs what a handler, or the server itself, has stumbled over. The client learns no
// more than that its stream was reset (INTERNAL_ERROR).
func (s *Server) panicked(cause any) {
	s.Log.Error("http server", "detail", "panic while a request was served", "cause", cause, "stack", string(debug.Stack()))
}

// count tells of a protocol error.
func (s *Server) count(name string) {
	if s.Errors != nil {
		s.Errors(name)
	}
}

// track counts c in, so that Shutdown finds it. One that came between its look at the connections
// and this is told to leave here, so that none is missed.
func (s *Server) track(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[*conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	if s.ended.Load() { // it came in between
		c.leave()
	}
}

// untrack forgets a connection that is closed.
func (s *Server) untrack(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Shutdown tells every client to open no more streams (GOAWAY), closes connections as
// their last stream ends, and waits for that. When ctx ends first it returns its error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.ended.Store(true)
	s.mu.Lock()
	for c := range s.conns {
		c.leave()
	}
	s.mu.Unlock()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for s.open() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	s.workers.close()
	return nil
}

// open is how many connections are not closed yet. Connections leave by themselves (untrack), and
// tell nobody: Shutdown looks, as net/http's does.
func (s *Server) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Close closes all connections at once. It does not wait for handlers, whose contexts end and whose
// writes fail.
func (s *Server) Close() {
	s.ended.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.mu.Lock()
		c.fail(errClosed)
		c.mu.Unlock()
	}
	s.workers.close()
}
