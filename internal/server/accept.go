package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/flood"
	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
)

// How long nobody is let in after an error that may pass, such as the lack of descriptors.
const (
	shortPause = 5 * time.Millisecond
	longPause  = time.Second
)

// accept serves who comes in, until nobody does any more.
func (s *Server) accept(l *listener) {
	for pause := time.Duration(0); ; {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.welcome(nc)
		case passing(err):
			pause = min(max(2*pause, shortPause), longPause)
			if !s.pause(pause) {
				return
			}
		default:
			if !s.retiring.Load() {
				s.log.Error("public listener stopped", "err", err)
			}
			return
		}
	}
}

// passing reports whether an error of accepting may not come again.
func passing(err error) bool {
	var passes net.Error
	return errors.As(err, &passes) && passes.Temporary() //nolint:staticcheck // as net/http asks it
}

// welcome has a connection served by who speaks its protocol.
func (s *Server) welcome(nc net.Conn) {
	switch nc := nc.(type) {
	case *strict.Conn:
		c := admitted(nc)
		s.expect(c)
		go s.serve1(c, nc)
	case *flood.Conn:
		go s.two.give(s, nc)
	}
}

// serve1 serves HTTP/1.1, and finds out who speaks HTTP/2 in plaintext.
func (s *Server) serve1(c *conn, nc *strict.Conn) {
	s.http1.Serve(context.WithValue(s.base, connKey{}, c), nc, c.tls)
	if !c.two {
		s.came(c)
	}
}

// serve2 serves HTTP/2.
func (s *Server) serve2(l net.Listener) {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) && !s.retiring.Load() {
		s.log.Error("HTTP/2 is not served any more", "err", err)
	}
}

// handover is where net/http gets connections from that speak HTTP/2. It is a net.Listener.
type handover struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
	addr  net.Addr
}

func newHandover(addr net.Addr) *handover {
	return &handover{conns: make(chan net.Conn), over: make(chan struct{}), addr: addr}
}

// give waits for net/http to take it.
func (h *handover) give(s *Server, nc net.Conn) {
	select {
	case h.conns <- nc:
	case <-h.over:
		_ = nc.Close()
		s.came(admitted(nc))
	}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case nc := <-h.conns:
		return nc, nil
	case <-h.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.over) })
	return nil
}

// Addr implements net.Listener.
func (h *handover) Addr() net.Addr { return h.addr }
