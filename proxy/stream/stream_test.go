package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// client is a ResponseWriter that keeps what it gets. Its deadlines are those
// of the bubble's clock.
type client struct {
	mu       sync.Mutex
	got      bytes.Buffer
	flushes  int
	deadline time.Time
	stalled  chan struct{} // once set, writes wait for their deadline
	gone     bool
}

func (c *client) Header() http.Header { return http.Header{} }
func (c *client) WriteHeader(int)     {}

func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return 0, errors.New("write: broken pipe")
	}
	if c.stalled != nil {
		time.Sleep(time.Until(c.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	return c.got.Write(p)
}

func (c *client) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushes++
	return nil
}

func (c *client) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return nil
}

func (c *client) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got.String()
}

func (c *client) flushed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flushes
}

func limits() stream.Limits {
	return stream.Limits{Event: 1 << 20, Idle: time.Minute, Heartbeat: 15 * time.Second, Write: 10 * time.Second}
}

func same(e stream.Entry, emit relay.Emit) error { return emit("", e.Name, e.Data) }

// text is a body that is there at once.
func text(s string) relay.Entries {
	return of(io.NopCloser(strings.NewReader(s)), nil, limits())
}

// TestOrder: thousands of events, whatever the pieces they come in.
func TestOrder(t *testing.T) {
	t.Parallel()
	const n = 5000
	var in, want strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "id: x%d\r\nevent: e\r\ndata: {\"n\":%d}\r\n: comment\r\n\r\n", i, i)
		fmt.Fprintf(&want, "event: e\ndata: {\"n\":%d}\n\n", i)
	}
	var c client
	stats, err := relay.Relay{Limits: limits(), See: same}.Run(t.Context(), &c, text(in.String()))
	if err != nil || c.text() != want.String() {
		t.Errorf("%v; %d bytes, want %d", err, len(c.text()), want.Len())
	}
	if stats.Events != n || stats.Bytes != int64(want.Len()) || stats.First <= 0 || c.flushes != n {
		t.Errorf("%+v, %d flushes", stats, c.flushes)
	}
}

// TestSeeDecides: what See emits is sent, what it refuses is not.
func TestSeeDecides(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	see := func(e stream.Entry, emit relay.Emit) error {
		if string(e.Data) == "b" {
			return refused
		}
		return emit("", e.Name, bytes.ToUpper(e.Data))
	}
	var c client
	stats, err := relay.Relay{Limits: limits(), See: see}.Run(
		t.Context(), &c, text("data: a\n\ndata: b\n\ndata: c\n\n"))
	if !errors.Is(err, refused) || c.text() != "data: A\n\n" || stats.Events != 1 {
		t.Errorf("%v, %q, %+v", err, c.text(), stats)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	big := "data: " + strings.Repeat("x", 2000) + "\n\n"
	tests := map[string]struct {
		in   string
		want error
		out  string
	}{
		"clean":              {"data: a\n\n", nil, "data: a\n\n"},
		"comments only":      {": hi\n\n: hi\n\n", nil, ""},
		"no data":            {"event: x\n\ndata: a\n\n", nil, "data: a\n\n"},
		"empty data":         {"data\n\n", nil, "data: \n\n"},
		"in mid-event":       {"data: a\n\ndata: b", ending.ErrBroken, "data: a\n\n"},
		"without blank line": {"data: a\n", ending.ErrBroken, ""},
		"too large":          {"data: a\n\n" + big, ending.ErrTooLarge, "data: a\n\n"},
		"endless line":       {strings.Repeat("x", 5000), ending.ErrTooLarge, ""},
	}
	for name, tt := range tests {
		var c client
		l := limits()
		l.Event = 1000
		_, err := relay.Relay{Limits: l, See: same}.Run(
			t.Context(), &c, of(io.NopCloser(strings.NewReader(tt.in)), nil, l))
		if !errors.Is(err, tt.want) || c.text() != tt.out {
			t.Errorf("%s: %v, %q", name, err, c.text())
		}
	}
}

// run relays from a pipe in a bubble and gives what it came to.
func run(ctx context.Context, c *client, r relay.Relay, source func(io.Reader, int) agentevents.Source) (*io.PipeWriter, <-chan error) {
	from, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, c, of(from, source, r.Limits))
		done <- err
	}()
	return to, done
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c client
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same}, nil)
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if n := strings.Count(c.text(), ": keep-alive\n"); n != 3 {
			t.Errorf("%d heartbeats in 50 s", n)
		}
		_, _ = io.WriteString(to, "data: a\n\n") // silence begins anew
		time.Sleep(14 * time.Second)
		synctest.Wait()
		if !strings.HasSuffix(c.text(), "data: a\n\n") {
			t.Errorf("%q", c.text())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !strings.HasSuffix(c.text(), "data: a\n\n: keep-alive\n") {
			t.Errorf("%q", c.text())
		}
		_ = to.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		before := c.text()
		time.Sleep(time.Hour)
		if c.text() != before {
			t.Error("a heartbeat after the end")
		}
	})
}

// TestIdle: an agent's comments are signs of life, silence is not.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c client
		began := time.Now()
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same}, nil)
		for range 3 {
			time.Sleep(50 * time.Second)
			_, _ = io.WriteString(to, ": alive\n\n")
		}
		if err := <-done; !errors.Is(err, ending.ErrIdle) {
			t.Error(err)
		}
		if lasted := time.Since(began); lasted != 210*time.Second {
			t.Errorf("lasted %v", lasted)
		}
	})
}

// TestSlowReader is cut off after one write that it did not take, also when
// that was a heartbeat.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"", "data: b\n\n"} {
		synctest.Test(t, func(t *testing.T) {
			var c client
			to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same}, nil)
			_, _ = io.WriteString(to, "data: a\n\n")
			synctest.Wait()
			c.mu.Lock()
			c.stalled = make(chan struct{})
			c.mu.Unlock()
			began := time.Now()
			_, _ = io.WriteString(to, event)
			if err := <-done; !errors.Is(err, ending.ErrSlow) {
				t.Errorf("%q: %v", event, err)
			}
			want := 10 * time.Second
			if event == "" {
				want += 15 * time.Second
			}
			if lasted := time.Since(began); lasted != want {
				t.Errorf("%q: cut off after %v", event, lasted)
			}
			if _, err := to.Write([]byte("x")); err == nil {
				t.Error("the agent's connection is still open")
			}
		})
	}
}

func TestClientGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		var c client
		to, done := run(ctx, &c, relay.Relay{Limits: limits(), See: same}, nil)
		_, _ = io.WriteString(to, "data: a\n\n")
		leave()
		if err := <-done; !errors.Is(err, ending.ErrGone) {
			t.Error(err)
		}
		if _, err := to.Write([]byte("x")); err == nil {
			t.Error("the agent's connection is still open")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := client{gone: true}
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same}, nil)
		_, _ = io.WriteString(to, "data: a\n\n")
		if err := <-done; !errors.Is(err, ending.ErrGone) {
			t.Error(err)
		}
	})
}

// hungUp is the context of a client who has hung up, at the moment when nobody
// has been told yet: its contexts are cancelled one after the other.
type hungUp struct{ context.Context }

func (hungUp) Err() error            { return context.Canceled }
func (hungUp) Done() <-chan struct{} { return make(chan struct{}) }

// TestClientGoneFirst: the agent's connection ends because the client's has, and
// that is not the agent's doing.
func TestClientGoneFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c client
		to, done := run(hungUp{t.Context()}, &c, relay.Relay{Limits: limits(), See: same}, nil)
		_ = to.CloseWithError(context.Canceled)
		if err := <-done; !errors.Is(err, ending.ErrGone) || errors.Is(err, ending.ErrBroken) {
			t.Error(err)
		}
	})
}

func TestAgentBreaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c client
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same}, nil)
		_, _ = io.WriteString(to, "data: a\n\n")
		_ = to.CloseWithError(errors.New("connection reset by peer"))
		if err := <-done; !errors.Is(err, ending.ErrBroken) || c.text() != "data: a\n\n" {
			t.Errorf("%v, %q", err, c.text())
		}
	})
}

// draining is a gateway that drains once it is told to.
func draining(t *testing.T) (begin func(), on func(func()) func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	return cancel, func(end func()) func() bool { return context.AfterFunc(ctx, end) }
}

func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		drain, onDrain := draining(t)
		var c client
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same, Drain: onDrain}, nil)
		_, _ = io.WriteString(to, "data: a\n\n")
		synctest.Wait()
		drain()
		if err := <-done; !errors.Is(err, ending.ErrDraining) || c.text() != "data: a\n\n" {
			t.Errorf("%v, %q", err, c.text())
		}
		// One that begins while draining ends at once.
		_, done = run(t.Context(), &c, relay.Relay{Limits: limits(), See: same, Drain: onDrain}, nil)
		if err := <-done; !errors.Is(err, ending.ErrDraining) {
			t.Error(err)
		}
	})
}

// TestSlowReaderAmongOthers: over real connections, one client that does not
// read is cut off, and the others get everything.
func TestSlowReaderAmongOthers(t *testing.T) {
	t.Parallel()
	const events = 150
	frame := "data: " + strings.Repeat("x", 64<<10) + "\n\n" // more than sockets hold
	ended := make(chan error, 5)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		l := limits()
		if r.URL.Path == "/slow" {
			l.Write = 200 * time.Millisecond
		}
		_, err := relay.Relay{Limits: l, See: same}.Run(r.Context(), w, text(strings.Repeat(frame, events)))
		if r.URL.Path == "/slow" {
			ended <- err
		}
	}))
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	get := func(path string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	slow := get("/slow")
	defer func() { _ = slow.Body.Close() }()
	var others sync.WaitGroup
	for range 4 {
		resp := get("/")
		others.Go(func() {
			n, err := io.Copy(io.Discard, resp.Body)
			if err != nil || n != int64(events*len(frame)) {
				t.Errorf("%d bytes, %v", n, err)
			}
			_ = resp.Body.Close()
		})
	}
	others.Wait()
	if err := <-ended; !errors.Is(err, ending.ErrSlow) {
		t.Errorf("the slow client: %v", err)
	}
}

// endless gives the same event n times.
type endless struct {
	frame []byte
	rest  []byte
	n     int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.n == 0 {
			return 0, io.EOF
		}
		e.n--
		e.rest = e.frame
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *endless) Close() error { return nil }

// null is a client that takes everything.
type null struct{}

func (null) Header() http.Header              { return nil }
func (null) WriteHeader(int)                  {}
func (null) Write(p []byte) (int, error)      { return len(p), nil }
func (null) FlushError() error                { return nil }
func (null) SetWriteDeadline(time.Time) error { return nil }

func BenchmarkEvent(b *testing.B) {
	frame := []byte("data: " + strings.Repeat("x", 600) + "\n\n")
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	_, err := relay.Relay{Limits: limits(), See: same}.Run(b.Context(), null{}, of(&endless{frame: frame, n: b.N}, nil, limits()))
	if err != nil {
		b.Fatal(err)
	}
}
