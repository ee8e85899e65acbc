package authn

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// request carries headers given as name, value, name, value …
func request(headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/agents/billing", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func bearerOf(token string) *http.Request { return request("Authorization", "Bearer "+token) }

// faultOf is the fault of a refusal, "ok" for none, else the text of the error.
func faultOf(err error) string {
	var r *Refused
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &r):
		return string(r.fault)
	case errors.Is(err, ErrUnavailable):
		return "unavailable"
	}
	return err.Error()
}

// logTo collects log lines for assertions.
type logTo struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logTo) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logTo) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logTo) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func want(t *testing.T, what, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %s, want %s", what, got, expected)
	}
}

// aClock is set by hand.
type aClock struct{ at atomic.Int64 }

func newClock(t time.Time) *aClock {
	c := new(aClock)
	c.at.Store(t.UnixNano())
	return c
}

func (c *aClock) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *aClock) pass(d time.Duration) { c.at.Add(int64(d)) }

// eventually polls: file events come from the kernel, which no fake clock drives.
// It fails only when the deadline is long past every promise.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("%s: did not happen", what)
		case <-tick.C:
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // finalizers and pools of the first round
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
