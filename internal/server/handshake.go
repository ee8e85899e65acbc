package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

// handshakes is where connections wait for their TLS. It is done before anybody serves
// them, for only then is it known which speak HTTP/1.1 and which HTTP/2; and in
// a goroutine for each, so that one who is slow is waited for by nobody. Those may be as
// many as connections, and take no longer than timeouts.header.
type handshakes struct {
	ready  chan net.Conn // that are to be served
	failed chan error    // of accepting
	ended  context.Context
	end    context.CancelFunc
	under  sync.WaitGroup // under way
}

func newHandshakes() *handshakes {
	h := &handshakes{ready: make(chan net.Conn), failed: make(chan error)}
	h.ended, h.end = context.WithCancel(context.Background())
	return h
}

// accept is the next connection whose handshake is done.
func (h *handshakes) accept() (net.Conn, error) {
	select {
	case c := <-h.ready:
		return c, nil
	case err := <-h.failed:
		return nil, err
	case <-h.ended.Done():
		return nil, net.ErrClosed
	}
}

// secure accepts connections, and has their handshakes done, until it cannot any more.
// While accept waits after an error, nothing is accepted; after the last one, which
// ends it, nobody is left in the middle.
func (l *listener) secure() {
	for {
		c, err := l.next()
		if err == nil {
			l.server.expect(c)
			l.tls.under.Go(func() { l.handshake(c) })
			continue
		}
		again := passing(err)
		if !again {
			l.tls.under.Wait()
		}
		select {
		case l.tls.failed <- err:
		case <-l.tls.ended.Done():
			return
		}
		if !again {
			return
		}
	}
}

// handshake hands c on once it is done. Like net/http, it contains what panics.
func (l *listener) handshake(c *conn) {
	s := l.server
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("panic in a TLS handshake", "cause", cause, "stack", string(debug.Stack()))
			l.drop(c)
		}
	}()
	// The generation of certificates is the one that is current now.
	secured := tls.Server(c, s.tls.Load().config)
	_ = c.SetDeadline(time.Now().Add(s.http2.Header)) // fails where the handshake will
	if err := secured.HandshakeContext(l.tls.ended); err != nil {
		s.log.Debug("TLS handshake", "peer", c.RemoteAddr().String(), "err", explain(err))
		l.drop(c)
		return
	}
	if secured.ConnectionState().NegotiatedProtocol == alpnACME {
		l.drop(c) // the CA has seen what it came for
		return
	}
	_ = c.SetDeadline(time.Time{})
	select {
	case l.tls.ready <- l.under(c, secured):
	case <-l.tls.ended.Done():
		l.drop(c)
	}
}

// under is what a connection is read from: of HTTP/1.1 strictly, of HTTP/2 within an
// allowance.
func (l *listener) under(c *conn, secured *tls.Conn) net.Conn {
	state := secured.ConnectionState()
	c.tls = &state
	if state.NegotiatedProtocol != "h2" {
		return l.server.strict.Conn(secured)
	}
	c.flood = l.server.flood.Conn(secured)
	return c.flood
}

// drop closes a connection that nobody will have.
func (l *listener) drop(c *conn) {
	_ = c.Close()
	l.server.came(c)
}

// explain tells those who speak plain HTTP what they have reached.
func explain(err error) error {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil || !looksLikeHTTP(header.RecordHeader) {
		return err
	}
	_, _ = io.WriteString(header.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Connection: close\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	return fmt.Errorf("client sent an HTTP request to an HTTPS server: %w", err)
}

func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		return true
	}
	return false
}
