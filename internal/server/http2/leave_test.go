package http2

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// leaves is a handler whose answers go on in a goroutine that calls goOn.
func leaves(t testing.TB, goOn func(*Left)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "first ")
		_ = http.NewResponseController(w).Flush()
		left, ok := Leave(w)
		if !ok {
			t.Error("the answer cannot go on without its handler")
			return
		}
		go goOn(left)
	}
}

// TestLeave: the client sees what any client sees, trailers too, and goes on with its connection.
func TestLeave(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long answer ", 100_000) // longer than a window
	url, s := servingAt(t, leaves(t, func(l *Left) {
		_, err := io.WriteString(l, long)
		if err != nil {
			t.Error(err)
		}
		l.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		l.End()
	}))
	c := client(t)
	for range 3 {
		resp, err := c.Post(url, "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "first "+long {
			t.Errorf("got %d bytes %.40q, %v", len(body), body, err)
		}
		if resp.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("trailers %v", resp.Trailer)
		}
	}
	if n := s.open(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestLeaveEnds: an answer that is cut off does not look whole, one whose client resets the
// stream is told by its context, and neither leaves anything behind.
func TestLeaveEnds(t *testing.T) {
	t.Parallel()
	t.Run("abort", func(t *testing.T) {
		t.Parallel()
		url, _ := servingAt(t, leaves(t, (*Left).Abort))
		resp, err := client(t).Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if string(body) != "first " || err == nil {
			t.Errorf("got %q, %v", body, err)
		}
	})
	t.Run("reset by the client", func(t *testing.T) {
		t.Parallel()
		left, over := make(chan struct{}), make(chan error, 1)
		url, _ := servingAt(t, leaves(t, func(l *Left) {
			left <- struct{}{}
			<-l.Context().Done()
			_, err := io.WriteString(l, "to nobody")
			l.End()
			over <- err
		}))
		c := dialRaw(t, url)
		c.open(1, true, request()...)
		if got := c.outcome(); got != "200" {
			t.Fatal(got)
		}
		<-left
		_ = c.WriteRSTStream(1, http2.ErrCodeCancel)
		if err := <-over; err == nil {
			t.Error("it was written")
		}
		c.open(3, true, request()...)
		if got := c.outcome(); got != "200" {
			t.Errorf("the next stream: %s", got)
		}
		<-left
	})
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		over := make(chan error, 1)
		url, _ := servingAt(t, leaves(t, func(l *Left) {
			_ = l.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
			_, err := l.Write(make([]byte, 1<<20)) // beyond the window
			l.End()
			over <- err
		}))
		c := dialRaw(t, url)
		c.open(1, true, request()...)
		var timeout interface{ Timeout() bool }
		if err := <-over; !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("writing ends with %v", err)
		}
	})
}

// TestLeaveNot: an answer whose request has not been read to its end, that has not begun, or
// that says how long it is, keeps its handler.
func TestLeaveNot(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(http.ResponseWriter, *http.Request){
		"not begun":    func(http.ResponseWriter, *http.Request) {},
		"not flushed":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "held") },
		"not read":     func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
		"has a length": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "5") },
		"another writer's": func(w http.ResponseWriter, _ *http.Request) {
			if _, ok := Leave(struct{ http.ResponseWriter }{w}); ok {
				t.Error("one that does not unwrap has left")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := servingAt(t, func(w http.ResponseWriter, r *http.Request) {
				if name != "not read" {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				before(w, r)
				if _, ok := Leave(w); ok {
					t.Error("it has left")
				}
			})
			c := dialRaw(t, url)
			c.open(1, name != "not read", append(request(), "x-more", "1")...)
			if got := c.outcome(); got != "200" && !strings.HasPrefix(got, "reset") {
				t.Error(got)
			}
		})
	}
}

// TestLeaveGoroutines: streams whose handlers have returned have no goroutine each.
func TestLeaveGoroutines(t *testing.T) { //nolint:paralleltest // it counts the process's goroutines
	const streams = 200
	left := make(chan *Left, streams)
	url, s := servingAt(t, leaves(t, func(l *Left) { left <- l }), func(s *Server) { s.Streams = streams })
	c := dialRaw(t, url)
	before := runtime.NumGoroutine()
	for i := range uint32(streams) {
		c.open(2*i+1, true, request()...)
		if got := c.outcome(); got != "200" {
			t.Fatal(got)
		}
	}
	all := make([]*Left, streams)
	for i := range all {
		all[i] = <-left
	}
	var of *conn
	s.mu.Lock()
	for one := range s.conns {
		of = one
	}
	s.mu.Unlock()
	// open is how many streams are open once no handler runs.
	open := func() int {
		deadline := time.Now().Add(10 * time.Second)
		for {
			of.mu.Lock()
			n, running := len(of.streams), of.running
			of.mu.Unlock()
			if running == 0 && runtime.NumGoroutine()-before <= mostIdle+10 {
				return n
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d handlers run, and there are %d goroutines more", running, runtime.NumGoroutine()-before)
			}
			time.Sleep(time.Millisecond)
		}
	}
	if n := open(); n != streams {
		t.Errorf("%d streams are open", n)
	}
	for _, l := range all {
		l.End()
	}
	if n := open(); n != 0 {
		t.Errorf("in the end %d streams are open", n)
	}
}
