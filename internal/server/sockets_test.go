//go:build unix

package server

import (
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
)

// inherit has the environment say what Hand has returned.
func inherit(t *testing.T, from *sockets.Set) *sockets.Set {
	t.Helper()
	env, err := from.Hand()
	if err != nil {
		t.Fatal(err)
	}
	key, value, _ := strings.Cut(env, "=")
	t.Setenv(key, value)
	next, err := sockets.Inherited()
	if err != nil {
		t.Fatal(err)
	}
	if value, there := os.LookupEnv(key); there {
		t.Errorf("%s is still %q", key, value)
	}
	return next
}

// TestSocketsAreHandedOver: a connection that comes between two servers is answered by
// the second one, on the same port.
func TestSocketsAreHandedOver(t *testing.T) {
	old := new(sockets.Set)
	first := start(t, plaintext(), empty(), func(s *Server) { s.Sockets = old })
	address := first.Addr().String()
	next := inherit(t, old)
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("between the two: %v", err)
	}
	defer waiting.Close()
	second := start(t, plaintext(), empty(), func(s *Server) { s.Sockets = next })
	if got := second.Addr().String(); got != address {
		t.Errorf("the second one listens at %s, not %s", got, address)
	}
	_, _ = io.WriteString(waiting, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if got := ended(t, waiting); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("answer %q", got)
	}
}

// TestSocketsForAnotherAddress: a configuration that has changed its address gets it.
func TestSocketsForAnotherAddress(t *testing.T) {
	old := new(sockets.Set)
	l, err := old.Listen(sockets.Public, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	next := inherit(t, old)
	other, err := next.Listen(sockets.Public, "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Addr().String() == l.Addr().String() {
		t.Error("the socket of another address was taken")
	}
}

// TestSocketsNobodyWants are closed: who connects is refused, and does not wait.
func TestSocketsNobodyWants(t *testing.T) {
	old := new(sockets.Set)
	l, err := old.Listen(sockets.Status, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	next := inherit(t, old)
	_ = l.Close()
	next.CloseRest()
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("a connection was taken")
	}
}

// TestR02_Retire: what is asked while the server retires is answered on connections old
// and new, and each of them is closed with its answer.
func TestR02_Retire(t *testing.T) {
	t.Parallel()
	const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	cfg := plaintext()
	s := start(t, cfg, empty())
	kept := dial(t, s)
	_, _ = io.WriteString(kept, request)
	buf := make([]byte, 1<<10)
	n, err := kept.Read(buf)
	if err != nil || strings.Contains(string(buf[:n]), "Connection: close") {
		t.Fatalf("answer %q, error %v", buf[:n], err)
	}
	s.Retire()
	fresh := dial(t, s)
	for _, c := range []net.Conn{kept, fresh} {
		_, _ = io.WriteString(c, request)
		if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.Contains(got, "Connection: close\r\n") {
			t.Errorf("answer %q", got)
		}
	}
	h2 := dialH2(t, s)
	status := h2.status(t, true, h2Get("/")...)
	for status == -1 { // the GOAWAY, which may come first, and others between
		frame, err := h2.framer.ReadFrame()
		if err != nil {
			break
		}
		if f, ok := frame.(*http2.MetaHeadersFrame); ok {
			status, _ = strconv.Atoi(f.PseudoValue("status"))
		}
	}
	if status != http.StatusOK {
		t.Errorf("HTTP/2: status %d", status)
	}
	ended(t, h2.Conn)
	eventually(t, "nobody is connected", func() bool { return s.Connections() == 0 })
}

// TestR02_FirstRequestComesLate: who has connected before the server stops accepting is
// answered, although the request comes later.
func TestR02_FirstRequestComesLate(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := start(t, plaintext(), empty())
		c := dial(t, s)
		eventually(t, "one connection", func() bool { return s.fresh.Load() == 1 })
		done := make(chan error, 1)
		go func() { done <- s.Shutdown(t.Context()) }()
		<-s.Draining()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("answer %q", got)
		}
		if err := <-done; err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}
}

// TestShutdownAfterTheDoorIsClosed: that net/http closes the listener too is no error of
// Shutdown's.
func TestShutdownAfterTheDoorIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t, plaintext(), empty())
	s.closeDoor(t.Context())
	if err := s.listener.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}
