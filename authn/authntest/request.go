// Package authntest has what tests of authentication share: an issuer in memory with keys of
// each kind, tokens and proofs signed by hand, requests that carry them, and a clock.
package authntest

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

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Request carries headers given as name, value, name, value …
func Request(headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/agents/billing", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func BearerOf(token string) *http.Request { return Request("Authorization", "Bearer "+token) }

// FaultOf is the fault of a refusal, "ok" for none, else the text of the error.
func FaultOf(err error) string {
	var r *authn.Refused
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &r):
		return string(r.Fault)
	case errors.Is(err, authn.ErrUnavailable):
		return "unavailable"
	}
	return err.Error()
}

// Log collects log lines for assertions.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func Want(t *testing.T, what, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %s, want %s", what, got, expected)
	}
}

// Clock is set by hand.
type Clock struct{ at atomic.Int64 }

func NewClock(t time.Time) *Clock {
	c := new(Clock)
	c.at.Store(t.UnixNano())
	return c
}

func (c *Clock) Now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *Clock) Pass(d time.Duration) { c.at.Add(int64(d)) }

// Eventually polls: file events come from the kernel, which no fake clock drives.
// It fails only when the deadline is long past every promise.
func Eventually(t *testing.T, what string, ok func() bool) {
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

func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // finalizers and pools of the first round
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
