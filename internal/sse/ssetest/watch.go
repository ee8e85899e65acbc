package ssetest

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"testing"
)

// Watch gives a transport whose event streams are read by the least forgiving parser as
// well, while the client reads them. The test fails at its end for every event that has no
// JSON document in it. Benchmarks get next itself.
func Watch(t testing.TB, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	if _, measures := t.(*testing.B); measures {
		return next
	}
	w := &watcher{next: next}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, what := range w.wrong {
			t.Error(what)
		}
	})
	return w
}

type watcher struct {
	next http.RoundTripper

	mu    sync.Mutex
	wrong []string
}

// RoundTrip implements http.RoundTripper.
func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "text/event-stream" {
		return resp, nil
	}
	p := &Parser{Got: func(e Event) { w.judge(r, e) }}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, p), resp.Body}
	return resp, nil
}

func (w *watcher) judge(r *http.Request, e Event) {
	if e.IsDocument() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf("%s %s: a strict parser has the event %+.200v", r.Method, r.URL.Path, e))
}

// CloseIdleConnections makes http.Client's reach the transport.
func (w *watcher) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
