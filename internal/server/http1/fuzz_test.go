package http1

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzRequests: of any bytes, in any pieces, handlers see the requests that net/http reads
// behind the same rules, and no others; the client is answered once for each, and at most
// once more that what follows is none.
func FuzzRequests(f *testing.F) {
	for _, sent := range requests {
		f.Add([]byte(sent), uint8(0))
		f.Add([]byte(sent+requests[1]), uint8(7))
	}
	f.Add([]byte("T / \r\nHost: a\r\n\r\n"), uint8(0))
	f.Fuzz(func(t *testing.T, sent []byte, size uint8) {
		if len(sent) > 1<<16 {
			return
		}
		var saw []string
		c := &script{rest: sent, size: int(size) + 1}
		s := &Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { saw = append(saw, requestText(r)) }),
			Header: patience, Idle: patience, Write: patience}
		s.Serve(context.Background(), rules.Conn(c), nil)
		want := theirs(sent)
		if !slices.Equal(saw, want) {
			t.Fatalf("%q:\n saw  %q\n want %q", sent, saw, want)
		}
		said := strings.ReplaceAll(c.said.String(), "HTTP/1.1 100 Continue\r\n\r\n", "") // is no answer yet
		if n := len(statusLine.FindAllString(said, -1)); n != len(saw) && n != len(saw)+1 {
			t.Fatalf("%q: %d requests, answered %q", sent, len(saw), c.said.String())
		}
		if !c.closed {
			t.Fatal("the connection was left open")
		}
	})
}

// statusLine is how an answer begins. The words of a refusal may name a version, too.
var statusLine = regexp.MustCompile(`HTTP/1\.[01] [0-9]{3} `)

// theirs is what a handler of net/http sees, at most as many as end with a body.
func theirs(sent []byte) (saw []string) {
	c := &script{rest: sent, size: 1 << 20}
	over := make(chan struct{})
	l := &chosen{conns: make(chan net.Conn, 1), over: make(chan struct{})}
	l.conns <- rules.Conn(c)
	s := &http.Server{
		Handler:                      http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { saw = append(saw, requestText(r)) }),
		DisableGeneralOptionsHandler: true,
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(over)
			}
		},
	}
	served := make(chan struct{})
	go func() { _ = s.Serve(l); close(served) }()
	<-over
	_ = s.Close()
	<-served
	return saw
}

// script is a connection on which bytes come in pieces, and then the end.
type script struct {
	net.Conn
	rest   []byte
	size   int
	said   bytes.Buffer
	closed bool
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest[:min(len(s.rest), s.size)])
	s.rest = s.rest[n:]
	return n, nil
}
func (s *script) Write(p []byte) (int, error)      { return s.said.Write(p) }
func (s *script) Close() error                     { s.closed = true; return nil }
func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
