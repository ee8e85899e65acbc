package server

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errDrained is the cause that requests see when the deadline has cut them off.
var errDrained = errors.New("the gateway is shutting down")

// afterlife is how long handlers that were cut off may take to return: they
// still have audit records to write.
const afterlife = time.Second

// Retire has every answer from now on close its connection, on HTTP/2 by GOAWAY, so
// that clients go elsewhere between two calls of theirs. Connections are accepted as
// before. Shutdown, which closes those without a request, then meets fewer of them: a
// client may just be about to send one.
func (s *Server) Retire() { s.retiring.Store(true) }

// Connections is how many are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	l := s.listener
	s.mu.Unlock()
	if l == nil {
		return 0
	}
	return l.open()
}

// Requests is how many are being answered.
func (s *Server) Requests() int { return int(s.inflight.Load()) }

// Expiry is when the first of the certificates that are served ends; zero without TLS.
func (s *Server) Expiry() time.Time {
	g := s.tls.Load()
	if g == nil {
		return time.Time{}
	}
	return g.notAfter()
}

// Leaves are the certificates that are served; none without TLS.
func (s *Server) Leaves() []*x509.Certificate {
	g := s.tls.Load()
	if g == nil {
		return nil
	}
	var leaves []*x509.Certificate
	for _, pair := range g.config.Certificates {
		leaves = append(leaves, pair.Leaf)
	}
	return leaves
}

// Authorities are the CAs that client certificates are verified by (server.tls.clientCA).
func (s *Server) Authorities() []*x509.Certificate {
	g := s.tls.Load()
	if g == nil {
		return nil
	}
	return slices.Clone(g.clientCA)
}

// Room is how many connections there may be.
func (s *Server) Room() int { return s.live.Load().room.most }

// Shutdown stops accepting, closes Draining, lets requests finish and waits for
// them. When ctx ends first, what is left is cancelled and its connections
// closed; after at most a second more, Shutdown returns an error that says how
// many requests that were. Shutting down a Server that was not started is fine.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain.Do(func() { close(s.draining) })
	s.mu.Lock()
	watching := s.watching
	s.watching = nil
	s.mu.Unlock()
	watching.stop()

	s.closeDoor(ctx)
	s.taken.close(false)
	err := s.finish(ctx)
	defer s.cancel(errDrained)
	if err == nil {
		err = s.awaitTaken(ctx)
	}
	if err == nil {
		return nil
	}
	cut := s.inflight.Load()
	s.cancel(errDrained)
	s.http1.Close() // like the next, it does not wait for handlers
	s.http2.Close()
	s.taken.close(true)
	s.awaitHandlers()
	return fmt.Errorf("shut down with %d requests unfinished: %w", cut, err)
}

// finish ends handshakes, and has both protocols end what they are busy with.
func (s *Server) finish(ctx context.Context) error {
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close() // it was before
	}
	s.mu.Unlock()
	two := make(chan error, 1)
	go func() { two <- s.http2.Shutdown(ctx) }()
	return errors.Join(s.http1.Shutdown(ctx), <-two)
}

// firstRequest is how long a client that has just connected may take for its request.
const firstRequest = time.Second

// closeDoor stops accepting, and waits for the requests of those who have just come in.
// From the moment that its Shutdown begins, nobody is waited for who has sent nothing; and
// who is served before that is told to close the connection.
func (s *Server) closeDoor(ctx context.Context) {
	s.Retire()
	s.mu.Lock()
	if s.listener != nil {
		s.listener.closeDoor()
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.first)
	defer cancel()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for s.fresh.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// awaitHandlers polls, since it runs once in a process and the counter is then
// one atomic addition per request for all the time before.
func (s *Server) awaitHandlers() {
	for deadline := time.Now().Add(afterlife); s.inflight.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // see above
	}
}
