package server

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errDrained is the cause that requests see when the deadline has cut them off.
var errDrained = errors.New("the gateway is shutting down")

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

// MaxConnections is how many connections there may be at once.
func (s *Server) MaxConnections() int { return s.live.Load().budget.served }

// Shutdown stops accepting, closes Draining, lets requests finish and waits for
// them. When ctx ends first, what is left is cancelled and its connections
// closed; after at most a second more, Shutdown returns an error that says how
// many requests that were. Shutting down a Server that was not started is fine.
func (s *Server) Shutdown(ctx context.Context) error {
	s.beginDrain()
	s.unwatchCertificates()

	s.closeDoor(ctx)
	s.detached.close(false)
	err := s.finish(ctx)
	defer s.cancel(errDrained)
	if err == nil {
		err = s.awaitDetached(ctx)
	}
	if err == nil {
		return nil
	}
	cut := s.inflight.Load()
	s.cancel(errDrained)
	s.http1.Close() // like the next, it does not wait for handlers
	s.http2.Close()
	s.detached.close(true)
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
