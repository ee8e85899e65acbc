package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// eventually waits for what another goroutine or the agent does.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// TestTLS: requests share a connection. Where HTTP/2 is agreed on, it is net/http's, and
// the one that found that out is used.
func TestTLS(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
			_, _ = io.WriteString(w, r.Proto)
		}))
		s.EnableHTTP2 = http2
		s.StartTLS()
		t.Cleanup(s.Close)
		var dials atomic.Int64
		p := newTestPool(t, &dials)
		for range 3 {
			resp, text, err := send(t.Context(), p, "POST", s.URL, "abc")
			must(t, err)
			want := map[bool]string{false: "abcHTTP/1.1", true: "abcHTTP/2.0"}[http2]
			if text != want || resp.TLS == nil || resp.TLS.Version != tls.VersionTLS13 {
				t.Errorf("%q, want %q", text, want)
			}
		}
		if dials.Load() != 1 || http2 == (p.kept() == 1) {
			t.Errorf("HTTP/2 %v: %d connections, %d kept", http2, dials.Load(), p.kept())
		}
		p.CloseIdleConnections()
	}
}

// TestEarlyHeadOverHTTP2: net/http goes on sending a body after the head of the answer has
// come, on the connection that was found to speak HTTP/2 and on later ones.
func TestEarlyHeadOverHTTP2(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-read
		_, _ = io.Copy(w, r.Body)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	said := strings.Repeat("x", 3<<20)
	for range 2 {
		resp, err := p.RoundTrip(closing(t.Context(), s.URL, said))
		must(t, err)
		read <- struct{}{}
		if heard, err := io.ReadAll(resp.Body); err != nil || string(heard) != said {
			t.Errorf("%d bytes, %v", len(heard), err)
		}
		_ = resp.Body.Close()
	}
}

// TestProtocolChanges: an agent that goes back from HTTP/2 to HTTP/1.1 is followed.
func TestProtocolChanges(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	start := func(http2 bool, l net.Listener) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
		_ = s.Listener.Close()
		s.Listener, s.EnableHTTP2 = l, http2
		s.StartTLS()
		return s
	}
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	ask := func(want string) {
		t.Helper()
		if _, got, err := send(t.Context(), p, "GET", "https://"+address, ""); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	s := start(true, l)
	ask("HTTP/2.0")
	p.Other.CloseIdleConnections() // or net/http may find out by losing a request
	s.CloseClientConnections()
	s.Close()
	l, err = net.Listen("tcp", address)
	must(t, err)
	s = start(false, l)
	defer s.Close()
	ask("HTTP/1.1")
	ask("HTTP/1.1")
	if p.kept() != 1 {
		t.Errorf("%d connections are kept", p.kept())
	}
}

// TestStrayRecords: bytes behind an answer are found in TLS too, in the same record or in
// one that has come with it.
func TestStrayRecords(t *testing.T) {
	t.Parallel()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	config := certificate.TLS.Clone()
	config.NextProtos = nil
	certificate.Close()
	for name, stray := range map[string]bool{"well-behaved": false, "stray": true} {
		url := rawAgent(t, func(c net.Conn, _ *bufio.Reader) {
			both := &together{Conn: c}
			tc := tls.Server(both, config)
			for in := bufio.NewReader(tc); ; {
				if _, err := http.ReadRequest(in); err != nil {
					return
				}
				both.hold = true
				_, _ = io.WriteString(tc, answerOf("x"))
				if stray {
					_, _ = io.WriteString(tc, answerOf("stray"))
				}
				both.flush()
			}
		})
		var dials atomic.Int64
		p := newTestPool(t, &dials)
		for range 3 {
			_, text, err := send(t.Context(), p, "GET", strings.Replace(url, "http:", "https:", 1), "")
			if must(t, err); text != "x" {
				t.Errorf("%s: %q", name, text)
			}
		}
		if n := dials.Load(); stray != (n == 3) {
			t.Errorf("%s: %d connections", name, n)
		}
	}
}

// together has several records arrive as one segment.
type together struct {
	net.Conn
	hold bool
	held []byte
}

func (c *together) Write(b []byte) (int, error) {
	if c.hold {
		c.held = append(c.held, b...)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *together) flush() {
	_, _ = c.Conn.Write(c.held)
	c.hold, c.held = false, nil
}

// TestStrayWhileIdle: what comes between two requests ends the connection.
func TestStrayWhileIdle(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	sent := make(chan struct{})
	url := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(c, answerOf("mine"))
			<-more
			_, _ = io.WriteString(c, answerOf("stray"))
			sent <- struct{}{}
		}
	})
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	for n := range int64(3) {
		if _, text, err := send(t.Context(), p, "POST", url, "x"); err != nil || text != "mine" || dials.Load() != n+1 {
			t.Errorf("%q, %v, %d connections", text, err, dials.Load())
		}
		more <- struct{}{}
		<-sent
	}
	p.sweepIdle()
	if p.kept() > 0 {
		t.Error("the connection is kept")
	}
}

// TestIdle: as many connections are kept as there may be, for as long as they may.
func TestIdle(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var waiting atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { waiting.Add(1); <-release }))
	defer s.Close()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	p.Other.MaxIdleConnsPerHost, p.Other.IdleConnTimeout = 2, 50*time.Millisecond
	done := make(chan error)
	for range 4 {
		go func() {
			_, _, err := send(t.Context(), p, "POST", s.URL, "x")
			done <- err
		}()
	}
	eventually(t, "four requests", func() bool { return waiting.Load() == 4 })
	close(release)
	for range 4 {
		must(t, <-done)
	}
	if n := p.kept(); n > 2 {
		t.Errorf("%d are kept", n)
	}
	eventually(t, "nothing idle", func() bool { return p.kept() == 0 })
	eventually(t, "the timer stands still", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.sweep == nil && len(p.hosts) == 0 })
	// What ends after the pool was closed is not kept.
	resp, err := p.RoundTrip(request(t.Context(), "POST", s.URL, "x"))
	must(t, err)
	p.CloseIdleConnections()
	_ = resp.Body.Close()
	resp, err = p.RoundTrip(request(t.Context(), "POST", rawAgent(t, always(answerOf("x"))), "x"))
	must(t, err)
	p.CloseIdleConnections()
	_, _ = io.ReadAll(resp.Body)
	if p.kept() > 0 {
		t.Error("a connection is kept after the pool was closed")
	}
}

// TestAgentClosesIdle: connections that an agent has closed are noticed without a request.
func TestAgentClosesIdle(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	_, _, err := send(t.Context(), p, "POST", s.URL, "x")
	must(t, err)
	if p.sweepIdle(); p.kept() != 1 {
		t.Fatal("it is not kept")
	}
	s.CloseClientConnections()
	eventually(t, "the end is noticed", func() bool { p.sweepIdle(); return p.kept() == 0 })
	_, _, err = send(t.Context(), p, "POST", s.URL, "x")
	must(t, err)
}

// TestContexts: a request ends with its context, whatever it is doing, with its cause.
func TestContexts(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	silent := func(answer string) string {
		return rawAgent(t, func(c net.Conn, in *bufio.Reader) {
			if _, err := in.Peek(1); err == nil {
				_, _ = io.WriteString(c, answer)
				_, _ = io.Copy(io.Discard, in)
			}
		})
	}
	for name, answer := range map[string]string{
		"no answer": "", "half a head": ok, "half a body": ok + "Content-Length: 3\r\n\r\na",
		"half a stream": ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "no end": ok + "\r\na",
	} {
		for _, size := range []int{1, 100_000} {
			var dials atomic.Int64
			p := newTestPool(t, &dials)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(20*time.Millisecond, func() { cancel(enough) })
			if _, _, err := send(ctx, p, "POST", silent(answer), strings.Repeat("x", size)); !errors.Is(err, enough) {
				t.Errorf("%s: %v", name, err)
			}
			if p.kept() > 0 {
				t.Errorf("%s: the connection is kept", name)
			}
			before := dials.Load()
			if _, _, err := send(ctx, p, "POST", silent(answer), "x"); !errors.Is(err, enough) || dials.Load() != before {
				t.Errorf("%s, again: %v after %d more connections", name, err, dials.Load()-before)
			}
		}
	}
}

// TestLateEnd: a context that ends after its request does not reach the next one on the
// connection.
func TestLateEnd(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	url := rawAgent(t, always(answerOf("x")))
	for range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := p.RoundTrip(request(ctx, "POST", url, "x"))
		must(t, err)
		go cancel()
		_, _ = io.ReadAll(resp.Body)
		if _, text, err := send(t.Context(), p, "POST", url, "x"); err != nil || text != "x" {
			t.Fatalf("%q, %v", text, err)
		}
		cancel()
	}
}

// TestCloseEarly: who has enough of an answer ends its connection, and a Read that waits.
func TestCloseEarly(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 2)
	url := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		if _, err := in.Peek(1); err == nil {
			_, _ = io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
			_, _ = io.Copy(io.Discard, in)
			gone <- struct{}{}
		}
	})
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	for _, reads := range []bool{true, false} {
		resp, err := p.RoundTrip(request(t.Context(), "POST", url, "x"))
		must(t, err)
		b := make([]byte, 10)
		n, err := resp.Body.Read(b)
		if must(t, err); string(b[:n]) != "abc" {
			t.Errorf("%q", b[:n])
		}
		ended := make(chan error, 1)
		if reads {
			go func() {
				_, err := resp.Body.Read(b)
				ended <- err
			}()
		} else {
			ended <- http.ErrBodyReadAfterClose
		}
		must(t, resp.Body.Close())
		must(t, resp.Body.Close())
		if err := <-ended; !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("a read that was waiting: %v", err)
		}
		if _, err := resp.Body.Read(b); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("a read after that: %v", err)
		}
		<-gone
	}
	if p.kept() > 0 {
		t.Error("a connection is kept")
	}
}

// TestStreams: what an agent has written is there at once.
func TestStreams(t *testing.T) {
	t.Parallel()
	next := make(chan string)
	for name, answer := range map[string]struct{ head, before, behind string }{
		"chunks":     {ok + "Transfer-Encoding: chunked\r\n\r\n", "8\r\n", "\r\n"},
		"to the end": {ok + "\r\n", "", ""},
	} {
		url := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
			if _, err := in.Peek(1); err == nil {
				_, _ = io.WriteString(c, answer.head)
				for event := range next {
					if event == "" {
						return
					}
					_, _ = io.WriteString(c, answer.before+event+answer.behind)
				}
			}
		})
		var dials atomic.Int64
		p := newTestPool(t, &dials)
		resp, err := p.RoundTrip(request(t.Context(), "POST", url, "x"))
		must(t, err)
		b := make([]byte, 100)
		for _, event := range []string{"data: 1\n", "data: 2\n", "data: 3\n"} {
			next <- event
			if n, err := resp.Body.Read(b); err != nil || string(b[:n]) != event {
				t.Errorf("%s: %q, %v", name, b[:n], err)
			}
		}
		next <- ""
		if _, err := resp.Body.Read(b); errors.Is(err, io.ErrUnexpectedEOF) != (answer.behind != "") || err == nil {
			t.Errorf("%s: it ends with %v", name, err)
		}
		_ = resp.Body.Close()
	}
}

// TestTrace: who watches a request is told.
func TestTrace(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	url := rawAgent(t, always("HTTP/1.1 103 Early Hints\r\n\r\n"+answerOf("x")))
	for _, reused := range []bool{false, true} {
		var heard []string
		say := func(what string) { heard = append(heard, what) }
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn: func(string) { say("get") },
			GotConn: func(i httptrace.GotConnInfo) {
				if say("got"); i.Reused != reused || i.Conn == nil {
					t.Errorf("%+v", i)
				}
			},
			WroteRequest:         func(httptrace.WroteRequestInfo) { say("wrote") },
			GotFirstResponseByte: func() { say("first") },
			Got1xxResponse:       func(int, textproto.MIMEHeader) error { say("1xx"); return nil },
		})
		_, _, err := send(ctx, p, "POST", url, "x")
		must(t, err)
		if got := strings.Join(heard, " "); got != "get got wrote first 1xx" {
			t.Error(got)
		}
	}
}
