package push

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// TestAttemptsAreTraced: each goes with the traceparent of its own span, which hears what
// became of it, and which the record names.
func TestAttemptsAreTraced(t *testing.T) {
	t.Parallel()
	var (
		mu    sync.Mutex
		ended []string
	)
	b := work(t, open(), func(o *WorkerOptions) {
		o.Trace = func(d *Delivery, attempt int) (string, func(Outcome, int)) {
			return fmt.Sprintf("%s-%d", d.Traceparent, attempt), func(what Outcome, status int) {
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, fmt.Sprint(attempt, what, status))
			}
		}
	})
	var calls int
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	d := notification(r.URL, "t1", 0)
	d.Traceparent = "trace"
	b.push(t, d)
	b.await(t, Delivered, 1)
	var sent, recorded []string
	for _, g := range r.seen() {
		sent = append(sent, g.header.Get("Traceparent"))
	}
	for _, a := range b.observed() {
		recorded = append(recorded, a.Traceparent)
	}
	want := []string{"trace-1", "trace-2"}
	if !slices.Equal(sent, want) || !slices.Equal(recorded, want) {
		t.Errorf("sent %v, recorded %v, want %v", sent, recorded, want)
	}
	wait(t, "ends", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Equal(ended, []string{"1failed503", "2delivered200"})
	})
}
