package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestL21_StalledHandshakesDisturbNobody: they are waited for one by one and not in a row.
func TestL21_StalledHandshakesDisturbNobody(t *testing.T) {
	t.Parallel()
	cfg := secured(identity(t, t.TempDir(), "localhost"))
	cfg.Timeouts.Header = seconds(3600)
	s := start(t, cfg, empty())
	for range 50 {
		_, _ = io.WriteString(dial(t, s), "\x16\x03\x01\x02\x00")
	}
	eventually(t, "fifty connections", func() bool { return s.Connections() == 50 })
	for _, h2 := range []bool{false, true} {
		resp, err := client(t, h2).Get(s.URL())
		must(t, err)
		_ = resp.Body.Close()
	}
}

// TestR02_DrainEndsHandshakes: who does not come to an end is not waited for.
func TestR02_DrainEndsHandshakes(t *testing.T) {
	t.Parallel()
	cfg := secured(identity(t, t.TempDir(), "localhost"))
	cfg.Timeouts.Header = seconds(3600)
	s := start(t, cfg, empty(), func(s *Server) { s.first = 10 * time.Millisecond })
	c := dial(t, s)
	eventually(t, "a connection", func() bool { return s.Connections() == 1 })
	must(t, s.Shutdown(context.Background()))
	ended(t, c)
	eventually(t, "no connection", func() bool { return s.Connections() == 0 && s.fresh.Load() == 0 })
}

// TestR02_DrainServesWhoHasConnected: a client that is in the middle of its handshake
// when the door closes still gets an answer.
func TestR02_DrainServesWhoHasConnected(t *testing.T) {
	t.Parallel()
	s := start(t, secured(identity(t, t.TempDir(), "localhost")), empty(), func(s *Server) { s.first = patience })
	c := dial(t, s)
	eventually(t, "a connection", func() bool { return s.Connections() == 1 })
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(context.Background()) }()
	eventually(t, "a closed door", func() bool {
		late, err := net.Dial("tcp", s.Addr().String())
		if err == nil {
			_ = late.Close()
		}
		return err != nil
	})
	secured := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	_, err := io.WriteString(secured, last)
	must(t, err)
	if got := statuses(t, secured); !slices.Equal(got, []int{200}) {
		t.Errorf("answered %v", got)
	}
	must(t, <-done)
}

// failing is a socket that has nothing but errors.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	err := f.errs[0]
	f.errs = f.errs[1:]
	return nil, err
}

func (f *failing) Close() error { return nil }

// TestR16_AcceptFailsUnderTLS: net/http hears of every error, since it is who waits
// before the next try, and of the last one.
func TestR16_AcceptFailsUnderTLS(t *testing.T) {
	t.Parallel()
	var refused []string
	s, err := New(secured(identity(t, t.TempDir(), "localhost")), empty(), nil)
	must(t, err)
	s.Refused = func(limit string) { refused = append(refused, limit) }
	full := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	l := newListener(&failing{errs: []error{full, full, net.ErrClosed}}, s)
	for i, want := range []error{syscall.EMFILE, syscall.EMFILE, net.ErrClosed} {
		if _, err := l.Accept(); !errors.Is(err, want) {
			t.Errorf("error %d is %v, want %v", i, err, want)
		}
	}
	if !slices.Equal(refused, []string{"descriptors", "descriptors"}) {
		t.Errorf("counted %v", refused)
	}
	must(t, l.Close())
}

func TestPlaintextOnTheTLSPort(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, secured(identity(t, t.TempDir(), "localhost")), empty()))
	_, _ = io.WriteString(c, last)
	if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "to an HTTPS server") {
		t.Errorf("answer %q", got)
	}
}

// TestPanicInHandshake is contained to its connection.
func TestPanicInHandshake(t *testing.T) {
	t.Parallel()
	s := start(t, secured(identity(t, t.TempDir(), "localhost")), empty())
	whole := s.tls.Load()
	s.tls.Store(&generation{config: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		panic("boom")
	}}})
	if got := served(s, ""); !strings.Contains(got, "EOF") && !strings.Contains(got, "reset") {
		t.Errorf("the handshake ended with %s", got)
	}
	eventually(t, "no connection", func() bool { return s.Connections() == 0 && s.fresh.Load() == 0 })
	s.tls.Store(whole)
	if got := served(s, ""); got != "localhost" {
		t.Errorf("after a panic: %s", got)
	}
}

// TestServing is what handlers and clients may expect of a connection, whatever is between.
func TestServing(t *testing.T) {
	t.Parallel()
	gone := make(chan error, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	mux.HandleFunc("GET /wait", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- r.Context().Err()
	})
	mux.HandleFunc("GET /tls", func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			_, _ = io.WriteString(w, r.TLS.ServerName)
		}
	})
	for on, dial := range listeners(t, mux) {
		t.Run(on, func(t *testing.T) { useAll(t, dial, gone) })
	}
}

func useAll(t *testing.T, dial func() net.Conn, gone <-chan error) {
	ask := func(c net.Conn, request string) *http.Response {
		_, err := io.WriteString(c, request)
		must(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		must(t, err)
		return resp
	}
	c := dial()
	_, _ = io.WriteString(c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\n")
	between := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	_, err := io.ReadFull(c, between)
	must(t, err)
	if body, _ := io.ReadAll(ask(c, "abc").Body); string(between) != "HTTP/1.1 100 Continue\r\n\r\n" || string(body) != "abc" {
		t.Errorf("Expect: %q, then %q", between, body)
	}

	large := make([]byte, 3<<20)
	_, _ = rand.Read(large)
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil }}
	defer tr.CloseIdleConnections()
	for _, length := range []int64{int64(len(large)), -1} {
		r, err := http.NewRequest("POST", "http://localhost/echo", bytes.NewReader(large))
		must(t, err)
		r.ContentLength = length
		resp, err := tr.RoundTrip(r)
		must(t, err)
		got, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(got, large) {
			t.Errorf("a body of length %d came back as %d bytes, %v", length, len(got), err)
		}
		_ = resp.Body.Close()
	}

	c = dial()
	ask(c, "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
	_ = c.Close()
	if err := <-gone; err == nil {
		t.Error("the handler was not told that its client has left")
	}

	if named, ok := dial().(*tls.Conn); ok {
		named = tls.Client(named.NetConn(), &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"})
		body, _ := io.ReadAll(ask(named, "GET /tls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").Body)
		if string(body) != "localhost" {
			t.Errorf("the handler was told of TLS for %q", body)
		}
	}
}
