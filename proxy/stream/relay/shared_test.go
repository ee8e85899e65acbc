package relay

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// reset is the ResponseWriter of a stream that its client has reset.
type reset struct{ kept []byte }

func (r *reset) Header() http.Header { return http.Header{} }
func (r *reset) WriteHeader(int)     {}

func (r *reset) Write(p []byte) (int, error) {
	r.kept = p
	return 0, errors.New("stream closed")
}

// TestUnwrittenEventsAreNotShared: events of which a frame may be on its way to a client who
// has gone stand in nobody else's buffer.
func TestUnwrittenEventsAreNotShared(t *testing.T) {
	t.Parallel()
	for range 100 { // a pool may forget what it is given
		client := &reset{}
		_, cancel := context.WithCancelCause(t.Context())
		w := newWriter(client, nil, stream.Limits{Write: time.Second, Heartbeat: time.Hour}, cancel)
		if err := w.emit("1", "", []byte("what only this caller may see")); err != nil {
			t.Fatal(err)
		}
		if err := w.flush(); err == nil || len(client.kept) == 0 {
			t.Fatal("nobody noticed")
		}
		w.stop()
		cancel(nil)
		next, _ := buffers.Get().(*[]byte)
		if b := (*next)[:cap(*next)]; len(b) > 0 && &b[0] == &client.kept[0] {
			t.Fatal("the next stream writes where the last one's events are")
		}
		buffers.Put(next)
	}
}
