package server

import (
	"context"
	"errors"
	"net"
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
		c := admitted(nc)
		s.expect(c)
		go s.serve2(c, nc)
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
func (s *Server) serve2(c *conn, nc net.Conn) {
	s.http2.Serve(context.WithValue(s.base, connKey{}, c), nc, c.tls)
	s.came(c)
}
