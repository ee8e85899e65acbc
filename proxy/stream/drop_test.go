package stream_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// TestDroppedWaits: what came in front of an event that ends a stream reaches a client at
// once, also where that is waited for without a goroutine.
func TestDroppedWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, _, c := running(t, hub(t, nil))
		woken, began := make(chan time.Duration, 1), time.Now()
		if !c.Await(func() { woken <- time.Since(began) }) {
			t.Fatal("there is something already")
		}
		a.then("data: 1\n\ndata: bad\n\ndata: 2\n\n", nil)
		if after := <-woken; after != 0 {
			t.Errorf("it came after %v", after)
		}
		wants(t, c, "1 1", nil)
		if _, err := c.Next(t.Context()); !errors.As(err, new(*stream.Dropped)) || time.Since(began) != stream.DropTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		c.Close()
	})
}

// unskipped is a Source that cannot pass over an event that is too large.
type unskipped struct{ from agentevents.Source }

func (u unskipped) Next() (agentevents.Event, error) { return u.from.Next() }

// TestDroppedUnskipped: where an event that is too large cannot be passed over, counting ends
// with it.
func TestDroppedUnskipped(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 2000)
	for name, tt := range map[string]struct {
		says []string
		want stream.Dropped
	}{
		"too large":         {[]string{large, "2"}, stream.Dropped{Events: 1, Err: ending.ErrTooLarge}},
		"refused and large": {[]string{"bad", "2", large, "3"}, stream.Dropped{Events: 3, Bytes: 4, Err: errRefused}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := hub(t, func(o *stream.HubOptions) { o.Limits.Event = 1000 })
			a, o := opened()
			o.From = func(r io.Reader, limit int) agentevents.Source { return unskipped{agentevents.SSE(r, limit)} }
			c := cursor(t, h.Open(o), 0)
			began := time.Now()
			a.say(tt.says...)
			_, err := c.Next(t.Context())
			var got *stream.Dropped
			if !errors.As(err, &got) || !errors.Is(err, tt.want.Err) {
				t.Fatalf("%s: %v", name, err)
			}
			if got.Events != tt.want.Events || got.Bytes != tt.want.Bytes || !got.More || time.Since(began) != 0 || !a.isStopped() {
				t.Errorf("%s: %+v after %v", name, got, time.Since(began))
			}
			c.Close()
		})
	}
}
