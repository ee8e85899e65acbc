package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// ended reads until the server closes the connection; the deadline that dial
// set fails the test if it does not.
func ended(t *testing.T, c net.Conn) string {
	t.Helper()
	answer, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is still open")
	}
	return string(answer)
}

func TestL21_SlowHeader(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Timeouts.Header = quantity.Duration(50 * time.Millisecond)
	var rec recorder
	s := start(t, cfg, &rec)
	for _, sent := range []string{"", "G", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A:"} {
		c := dial(t, s)
		_, _ = io.WriteString(c, sent)
		ended(t, c)
	}
	if n := rec.reached.Load(); n != 0 {
		t.Errorf("the handler was reached %d times", n)
	}
}

func TestL21_StalledHandshake(t *testing.T) {
	t.Parallel()
	cfg := secured(identity(t, t.TempDir(), "localhost"))
	cfg.Timeouts.Header = quantity.Duration(50 * time.Millisecond)
	s := start(t, cfg, empty())
	for _, sent := range []string{"", "\x16\x03\x01\x02\x00"} {
		c := dial(t, s)
		_, _ = io.WriteString(c, sent)
		ended(t, c)
	}
}

func TestL21_IdleConnection(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Timeouts.Idle = quantity.Duration(50 * time.Millisecond)
	c := dial(t, start(t, cfg, empty()))
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("answer %q", got)
	}
}

// slowBodies has a grace period that a test can wait for.
func slowBodies() Config {
	cfg := plaintext()
	cfg.Timeouts.Body = quantity.Duration(500 * time.Millisecond)
	cfg.Limits.BodyRate = 1000 // 500 bytes per grace period
	return cfg
}

func TestL21_SlowBody(t *testing.T) {
	t.Parallel()
	const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
	result := make(chan error, 1)
	s := start(t, slowBodies(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		result <- err
		w.WriteHeader(http.StatusRequestTimeout)
	}))
	t.Run("nothing comes", func(t *testing.T) {
		c := dial(t, s)
		_, _ = io.WriteString(c, head)
		if err := <-result; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("body read ended with %v", err)
		}
		ended(t, c)
	})
	t.Run("a byte at a time", func(t *testing.T) {
		c := dial(t, s)
		_, _ = io.WriteString(c, head)
		stop := make(chan struct{})
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			for tick := time.Tick(10 * time.Millisecond); ; {
				select {
				case <-stop:
					return
				case <-tick:
					_, _ = io.WriteString(c, "x")
				}
			}
		}()
		if err := <-result; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("body read ended with %v", err)
		}
		close(stop)
		<-stopped
	})
	t.Run("a burst, then nothing", func(t *testing.T) {
		c := dial(t, s)
		_, _ = io.WriteString(c, head+strings.Repeat("x", 90_000))
		if err := <-result; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("body read ended with %v", err)
		}
	})
}

// TestL21_UnreadSlowBody: a handler that answers without reading the body, as
// it does where the caller is not known, must not leave net/http waiting for it.
func TestL21_UnreadSlowBody(t *testing.T) {
	testenv.Long(t, "a client takes its time")
	t.Parallel()
	s := start(t, slowBodies(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	c := dial(t, s)
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx")
	if got := ended(t, c); !strings.HasPrefix(got, "HTTP/1.1 401") {
		t.Errorf("answer %q", got)
	}
}

// TestL21_StreamsOutliveTheBodyDeadline: on both protocols, an answer may go on
// for longer than a body may take, also while a client is silent.
func TestL21_StreamsOutliveTheBodyDeadline(t *testing.T) {
	testenv.Long(t, "streams outlive a deadline")
	t.Parallel()
	cfg := slowBodies()
	s := start(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(5 * cfg.Timeouts.Body.Std()):
			_, _ = io.WriteString(w, "alive")
		case <-r.Context().Done():
			_, _ = io.WriteString(w, "cancelled")
		}
	}))
	for _, h2 := range []bool{false, true} {
		var p http.Protocols
		p.SetHTTP1(!h2)
		p.SetUnencryptedHTTP2(h2)
		tr := &http.Transport{Protocols: &p}
		resp, err := (&http.Client{Transport: tr, Timeout: patience}).Post(s.URL(), "text/plain",
			strings.NewReader("body"))
		must(t, err)
		got, err := io.ReadAll(resp.Body)
		if string(got) != "alive" || err != nil {
			t.Errorf("h2 %v: %q, %v", h2, got, err)
		}
		_ = resp.Body.Close()
		tr.CloseIdleConnections()
	}
}

func TestL21_SlowBodyOverHTTP2(t *testing.T) {
	t.Parallel()
	result := make(chan error, 1)
	s := start(t, slowBodies(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		result <- err
	}))
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &p}
	defer tr.CloseIdleConnections()
	from, to := io.Pipe()
	defer func() { _ = to.Close() }()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL(), from)
	must(t, err)
	resp, err := tr.RoundTrip(r)
	if got := <-result; !errors.Is(got, os.ErrDeadlineExceeded) {
		t.Errorf("body read ended with %v", got)
	}
	if err == nil {
		_ = resp.Body.Close()
	}
}

func TestBodyAtTheRateIsAccepted(t *testing.T) {
	testenv.Long(t, "a client is as slow as it may be")
	t.Parallel()
	got := make(chan int64, 1)
	cfg := slowBodies()
	cfg.Timeouts.Body = seconds(2)
	cfg.Limits.BodyRate = 1 // 2 bytes per grace period
	s := start(t, cfg, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			n = -1
		}
		got <- n
	}))
	c := dial(t, s)
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n")
	for tick, sent := time.Tick(150*time.Millisecond), 0; sent < 20; sent++ {
		<-tick // three seconds in all: longer than one period
		_, _ = io.WriteString(c, "x")
	}
	if n := <-got; n != 20 {
		t.Errorf("read %d bytes", n)
	}
}

func TestR07_TooManyConnections(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Limits.Connections = 2
	var refused atomic.Value
	s := start(t, cfg, empty(), func(s *Server) { s.Refused = func(limit string) { refused.Store(limit) } })
	first, second := dial(t, s), dial(t, s)
	eventually(t, "two connections", func() bool { return s.listener.open() == 2 })

	third := dial(t, s)
	_, _ = io.WriteString(third, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
	answer := ended(t, third)
	if !strings.HasPrefix(answer, "HTTP/1.1 503") || !strings.Contains(answer, "Retry-After: 1\r\n") ||
		!strings.Contains(answer, "Connection: close\r\n") {
		t.Errorf("answer %q", answer)
	}
	if refused.Load() != "connections" {
		t.Errorf("refused %v", refused.Load())
	}
	_ = first.Close()
	eventually(t, "a free place", func() bool { return s.listener.open() == 1 })
	if status := raw(t, s, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); status != 200 {
		t.Errorf("status %d with a free place", status)
	}
	_ = second.Close()
}

func TestR16_BeyondTheReserve(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Limits.Connections = 1
	s := start(t, cfg, empty(), func(s *Server) { s.told = time.Minute })
	for range 1 + reserve {
		dial(t, s)
	}
	eventually(t, "a full reserve", func() bool { return s.listener.open() == 1+reserve })
	if got := ended(t, dial(t, s)); got != "" {
		t.Errorf("answer %q", got)
	}
}

func TestL21_ConnectionsPerIP(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Limits.ConnectionsPerIP = 1
	refused := make(chan string, 10)
	s := start(t, cfg, empty(), func(s *Server) { s.Refused = func(limit string) { refused <- limit } })
	first := dial(t, s)
	eventually(t, "one connection", func() bool { return s.listener.open() == 1 })
	if got := ended(t, dial(t, s)); got != "" || <-refused != "connectionsPerIP" {
		t.Errorf("answer %q", got)
	}
	_ = first.Close()
	eventually(t, "a free place", func() bool { return s.listener.open() == 0 })

	cfg.TrustedProxies = networks("127.0.0.0/8") // takes effect on new connections
	must(t, s.Reload(cfg))
	for range 3 {
		c := dial(t, s)
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Errorf("a proxy's connection: %v", err)
		}
	}
}
