package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// leaving is a handler that leaves its answer to a goroutine, which does what it is told
// and says where it is.
type leaving struct {
	answer func(Detached) // what is done with it; nil ends it at once
	taken  chan Detached  // each, once it is; nil for nobody
}

func (h *leaving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, "first ")
	_ = http.NewResponseController(w).Flush()
	t, ok := Detach(w, r)
	if !ok {
		_, _ = io.WriteString(w, "not taken")
		return
	}
	go func() {
		if h.taken != nil {
			h.taken <- t
		}
		if h.answer != nil {
			h.answer(t)
		}
		t.End()
	}()
}

func says(text string) func(Detached) {
	return func(t Detached) { _, _ = io.WriteString(t, text) }
}

// request is one with a body on the way to a taken answer.
func request(lines ...string) string {
	return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n" + strings.Join(append(lines, ""), "\r\n") + "\r\nbody"
}

// connect opens a connection, with TLS where the server has it.
func connect(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c := dial(t, s)
	if s.tls.Load() != nil {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}) // a test's own
	}
	return c
}

func answerOf(t *testing.T, from *bufio.Reader) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("after %q: %v", body, err)
	}
	return resp, string(body)
}

// TestTaken: the client of an answer that was taken over sees what any client sees, and
// goes on using its connection.
func TestTaken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long answer ", 10_000)
	for name, cfg := range map[string]Config{"plain": plaintext(), "TLS": secured(identity(t, t.TempDir(), "localhost"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, cfg, &leaving{answer: says(long)})
			c := connect(t, s)
			from := bufio.NewReader(c)
			for range 3 {
				if _, err := io.WriteString(c, request()); err != nil {
					t.Fatal(err)
				}
				if _, body := answerOf(t, from); body != "first "+long {
					t.Errorf("got %d bytes %.40q", len(body), body)
				}
			}
			if n := s.Connections(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// TestTakenPipelined: requests that come before the answer is done are answered after it,
// in order, and held to the rules of requests.
func TestTakenPipelined(t *testing.T) {
	t.Parallel()
	h := &leaving{answer: says("last"), taken: make(chan Detached)}
	s := start(t, plaintext(), h)
	c := dial(t, s)
	from := bufio.NewReader(c)
	_, _ = io.WriteString(c, request()+request()) // one of them is in net/http's buffer
	<-h.taken
	<-h.taken
	_, _ = io.WriteString(c, request()+"GET / HTTP/1.1\nHost: localhost\n\n") // and these come bit by bit
	<-h.taken
	for range 3 {
		if _, body := answerOf(t, from); body != "first last" {
			t.Errorf("got %q", body)
		}
	}
	if resp, _ := answerOf(t, from); resp.StatusCode != http.StatusBadRequest || !resp.Close {
		t.Errorf("a malformed request is answered %s, close %v", resp.Status, resp.Close)
	}
}

// TestTakenPipelinedLong: a long head brings more with it than is read at once afterwards.
// None of that gets lost, or is a request that was judged as part of a body.
func TestTakenPipelinedLong(t *testing.T) {
	t.Parallel()
	h := &leaving{answer: says("last"), taken: make(chan Detached, 32)}
	s := start(t, plaintext(), h)
	c := dial(t, s)
	all := request("X-Pad: " + strings.Repeat("p", 8300))
	for range 20 {
		all += request("X-Pad: " + strings.Repeat("p", 300))
	}
	_, _ = io.WriteString(c, all)
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	from := bufio.NewReader(c)
	for i := range 21 {
		if resp, body := answerOf(t, from); resp.StatusCode != http.StatusOK || body != "first last" {
			t.Fatalf("answer %d: %s %q", i, resp.Status, body)
		}
	}
}

// TestTakenCloses: who has asked for no further request is not waited for.
func TestTakenCloses(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{
		"HTTP/1.0":          strings.Replace(request(), "HTTP/1.1", "HTTP/1.0", 1),
		"Connection: close": request("Connection: close"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, plaintext(), &leaving{answer: says("last")})
			c := dial(t, s)
			_, _ = io.WriteString(c, sent)
			resp, body := answerOf(t, bufio.NewReader(c))
			if body != "first last" || !resp.Close {
				t.Errorf("got %q, close %v", body, resp.Close)
			}
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("then %v", err)
			}
			for s.Connections() > 0 {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// TestTakenNot: what cannot be taken over stays net/http's.
func TestTakenNot(t *testing.T) {
	t.Parallel()
	s := start(t, plaintext(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		if _, ok := Detach(w, r); ok {
			t.Error("a request that was not read is taken over")
		}
		_, _ = io.WriteString(w, "served")
	}))
	c := dial(t, s)
	_, _ = io.WriteString(c, request("Connection: close"))
	if _, body := answerOf(t, bufio.NewReader(c)); body != "served" {
		t.Errorf("got %q", body)
	}
}

// TestTakenClientLeaves: the context ends with the client, and nothing is left of it.
func TestTakenClientLeaves(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{"plain": plaintext(), "TLS": secured(identity(t, t.TempDir(), "localhost"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &leaving{taken: make(chan Detached), answer: func(t Detached) { <-t.Context().Done() }}
			s := start(t, cfg, h)
			c := connect(t, s)
			_, _ = io.WriteString(c, request())
			taken := <-h.taken
			_ = c.Close()
			<-taken.Context().Done()
			if cause := context.Cause(taken.Context()); !errors.Is(cause, context.Canceled) {
				t.Errorf("it ends with %v", cause)
			}
			for s.Connections() > 0 || s.inflight.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// TestTakenAborted: an answer that is cut off does not look whole.
func TestTakenAborted(t *testing.T) {
	t.Parallel()
	h := &leaving{answer: func(t Detached) {
		_, _ = io.WriteString(t, "some")
		t.Abort()
	}}
	s := start(t, plaintext(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = http.NewResponseController(w).Flush()
		if taken, ok := Detach(w, r); ok {
			go h.answer(taken)
		}
	}))
	c := dial(t, s)
	_, _ = io.WriteString(c, request())
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err == nil || string(body) != "some" {
		t.Errorf("got %q, %v", body, err)
	}
}

// TestTakenSlow: a client that does not read ends the write at its deadline, and is not
// told that its answer is whole.
func TestTakenSlow(t *testing.T) {
	t.Parallel()
	result := make(chan error, 1)
	s := start(t, plaintext(), &leaving{answer: func(t Detached) {
		_ = t.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, err := t.Write(make([]byte, 64<<20))
		result <- err
	}})
	c := dial(t, s)
	_, _ = io.WriteString(c, request())
	var timeout net.Error
	if err := <-result; !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("writing ends with %v", err)
	}
	for s.Connections() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestTakenShutdown: Shutdown waits for answers that were taken over, and for nobody who
// has had one; what is not done in time is cut off, and counted.
func TestTakenShutdown(t *testing.T) {
	t.Parallel()
	t.Run("waits", func(t *testing.T) {
		t.Parallel()
		end := make(chan struct{})
		var calls atomic.Int32
		h := &leaving{taken: make(chan Detached, 2), answer: func(Detached) {
			if calls.Add(1) > 1 {
				<-end
			}
		}}
		s := start(t, plaintext(), h)
		busy, rests := dial(t, s), dial(t, s)
		_, _ = io.WriteString(rests, request())
		<-h.taken
		_, _ = io.WriteString(busy, request())
		<-h.taken
		over := make(chan error, 1)
		go func() { over <- s.Shutdown(context.Background()) }()
		_, err := io.ReadAll(rests)
		if err != nil {
			t.Errorf("who has had its answer: %v", err)
		}
		select {
		case err := <-over:
			t.Fatalf("it has not waited: %v", err)
		default:
		}
		close(end)
		if _, body := answerOf(t, bufio.NewReader(busy)); body != "first " {
			t.Errorf("got %q", body)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	t.Run("cuts off", func(t *testing.T) {
		t.Parallel()
		h := &leaving{taken: make(chan Detached), answer: func(t Detached) { <-t.Context().Done() }}
		s := start(t, plaintext(), h)
		c := dial(t, s)
		_, _ = io.WriteString(c, request())
		taken := <-h.taken
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		err := s.Shutdown(ctx)
		if want := fmt.Sprintf("shut down with %d requests unfinished", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v", err)
		}
		if cause := context.Cause(taken.Context()); !errors.Is(cause, errDrained) {
			t.Errorf("it was ended by %v", cause)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("what was cut off looks whole")
		}
	})
}

// TestTakenRests: who has had an answer is waited for as long as for others between two
// requests.
func TestTakenRests(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Timeouts.Idle = quantity.Duration(50 * time.Millisecond)
	s := start(t, cfg, &leaving{answer: says("last")})
	c := dial(t, s)
	_, _ = io.WriteString(c, request())
	from := bufio.NewReader(c)
	answerOf(t, from)
	if _, err := from.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("then %v", err)
	}
}
