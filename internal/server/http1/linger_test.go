package http1

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// early answers without a look at the body.
func early(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "early", http.StatusRequestEntityTooLarge)
}

// bounded sets how long the server lingers.
func bounded(l Linger) func(*Server) {
	return func(s *Server) { s.Linger = func() Linger { return l } }
}

// TestLinger: a client that sends all of its request before it reads has its answer, whatever
// it was answered for, and nothing behind that is a request.
func TestLinger(t *testing.T) {
	t.Parallel()
	hidden := strings.Repeat(requests[0], 100_000) // 3 MB
	for name, head := range map[string]string{
		"a length":          "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n",
		"chunks":            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5000000\r\n",
		"broken chunks":     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		"HTTP/1.0":          "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n",
		"not invited":       "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100000000\r\n\r\n",
		"no request":        "POST  / HTTP/1.1\r\n",
		"a large head":      "GET / HTTP/1.1\r\nX: " + strings.Repeat("a", 20<<10),
		"the last of a few": "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served atomic.Int32
			_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { served.Add(1); early(w, r) }))
			c := dial(t, addr)
			if _, err := io.WriteString(c, head+hidden); err != nil {
				t.Errorf("sending ends with %v", err)
			}
			br := bufio.NewReader(c)
			resp, err := http.ReadResponse(br, nil)
			if err != nil || resp.StatusCode < 400 {
				t.Fatal(resp, err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Error(err)
			}
			if more, err := io.ReadAll(br); len(more) > 0 || err != nil || served.Load() > 1 {
				t.Errorf("%d were served; behind the answer came %q, %v", served.Load(), more, err)
			}
		})
	}
}

// TestLingerBounds: nobody is waited for without end, nor read from.
func TestLingerBounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bounds Linger
		every  time.Duration // that the client sends a byte; 0 for all the time and as much as it can, never for no more
	}{
		"silence":         {Linger{Bytes: 1 << 40, Time: never, Silence: 50 * time.Millisecond}, never},
		"a byte at times": {Linger{Bytes: 1 << 40, Time: 300 * time.Millisecond, Silence: never}, 10 * time.Millisecond},
		"bytes at times":  {Linger{Bytes: 10, Time: never, Silence: never}, 10 * time.Millisecond},
		"without end":     {Linger{Bytes: 1 << 20, Time: never, Silence: never}, 0},
		"for long":        {Linger{Bytes: 1 << 40, Time: 300 * time.Millisecond, Silence: never}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			s := &Server{Handler: http.HandlerFunc(early), Header: patience, Idle: patience, Write: patience}
			bounded(tt.bounds)(s)
			addr := listen(t, func(nc net.Conn) { s.Serve(context.Background(), rules.Conn(nc), nil); close(over) })
			c := dial(t, addr)
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\n")
			if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Fatal(resp, err)
			}
			go trickle(c, tt.every)
			select {
			case <-over:
			case <-time.After(patience):
				t.Error("it is still served")
			}
		})
	}
}

const never = time.Hour

// trickle sends bytes until that fails.
func trickle(c net.Conn, every time.Duration) {
	piece := make([]byte, 1)
	if every == 0 {
		piece = make([]byte, 64<<10)
	}
	for every != never {
		time.Sleep(every)
		if _, err := c.Write(piece); err != nil {
			return
		}
	}
}

// TestShutdownWhileLingering: a server that shuts down does not wait for clients that have
// been answered for longer than it takes them to read that.
func TestShutdownWhileLingering(t *testing.T) {
	t.Parallel()
	s, addr := start(t, http.HandlerFunc(early), bounded(Linger{Bytes: 1 << 40, Time: never, Silence: never}))
	for _, every := range []time.Duration{never, time.Millisecond, 0} {
		c := dial(t, addr)
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatal(err)
		}
		go trickle(c, every)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience/2)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
