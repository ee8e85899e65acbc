package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// withID retells an entry with its number for an id.
func withID(e stream.Entry, emit relay.Emit) error {
	return emit(fmt.Sprint(e.Number), e.Name, e.Data)
}

// mender opens another source when its client is to, as a proxy does: inside of Next, so
// that heartbeats go on.
type mender struct {
	*stream.Cursor

	mend func() error
}

func (m mender) Next(ctx context.Context) (stream.Entry, error) {
	for {
		e, err := m.Cursor.Next(ctx)
		if !errors.Is(err, stream.ErrLost) {
			return e, err
		}
		if err := m.mend(); err != nil {
			return stream.Entry{}, err
		}
	}
}

// TestRelayOfFeed: a client with ids, whose agent's stream breaks once, and a gateway that
// ends it. A heartbeat stands between events, and ends none.
func TestRelayOfFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, f, c := running(t, hub(t, nil))
		b, again := opened()
		m := mender{c, func() error {
			time.Sleep(20 * time.Second) // the agent is away for a moment
			f.Resume(again)
			return nil
		}}
		drain, onDrain := draining(t)
		var out client
		done := make(chan error, 1)
		go func() {
			stats, err := relay.Relay{Limits: limits(), See: withID, Drain: onDrain}.Run(t.Context(), &out, m)
			if stats.Events != 3 {
				t.Errorf("%+v", stats)
			}
			done <- err
		}()
		a.say("a", "b")
		a.breaks()
		b.say("c")
		time.Sleep(21 * time.Second)
		drain()
		if err := <-done; !errors.Is(err, ending.ErrDraining) {
			t.Error(err)
		}
		want := "id: 1\ndata: a\n\nid: 2\ndata: b\n\n: keep-alive\nid: 3\ndata: c\n\n"
		if out.text() != want {
			t.Errorf("%q, want %q", out.text(), want)
		}
		if time.Sleep(31 * time.Second); !b.isStopped() {
			t.Error("the client is not known to have gone")
		}
	})
}

// TestEnd: what an agent says beside its events can make another thing of their end.
func TestEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		means, want error
	}{"nothing": {nil, io.EOF}, "a refusal": {errRefused, errRefused}} {
		synctest.Test(t, func(t *testing.T) {
			a, o := opened()
			o.End = func(err error) error {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				return tt.means
			}
			c := cursor(t, hub(t, nil).Open(o), 0)
			a.say("a")
			a.ends()
			if wants(t, c, "0 a", tt.want); !a.isStopped() {
				t.Error(name)
			}
		})
	}
}

// TestConfigure: a reload counts for feeds that there are.
func TestConfigure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, f, c := running(t, h)
		a.say("1", "2", "3")
		h.Configure(stream.Config{Buffer: stream.Buffer{Events: 2}, Linger: lasts(time.Second)}, limits())
		wants(t, c, wanted(1, 3), nil)
		a.say("4")
		wants(t, c, "4 4", nil)
		if from, entries := f.Entries(); from != 3 || len(entries) != 2 {
			t.Errorf("%d entries from %d", len(entries), from)
		}
		c.Close()
		if time.Sleep(2 * time.Second); !a.isStopped() {
			t.Error("the source is read on")
		}
	})
}

// repeat is a body that says the same n times.
func repeat(n int) (*endless, stream.Opened) {
	e := &endless{frame: []byte("data: " + strings.Repeat("x", 600) + "\n\n"), n: n}
	return e, stream.Opened{Body: e, Judge: func(e agentevents.Event) ([]stream.Entry, error) {
		return []stream.Entry{{Data: e.Data}}, nil
	}}
}

func benchmarkFeed(b *testing.B, clients int) {
	h := stream.NewHub(stream.HubOptions{Limits: limits()})
	defer h.Close()
	_, o := repeat(b.N)
	hold := make(chan struct{})
	look := o.Judge
	o.Judge = func(e agentevents.Event) ([]stream.Entry, error) { <-hold; return look(e) }
	f := h.Open(o)
	done := make(chan int, clients)
	for range clients {
		c := f.Tip()
		go func() {
			n := 0
			for {
				if _, err := c.Next(b.Context()); err != nil {
					done <- n
					return
				}
				n++
			}
		}()
	}
	b.ReportAllocs()
	b.ResetTimer()
	close(hold)
	most := 0
	for range clients {
		most = max(most, <-done)
	}
	if most != b.N {
		b.Fatalf("the fastest client has %d of %d", most, b.N)
	}
}

func BenchmarkFeed1(b *testing.B)   { benchmarkFeed(b, 1) }
func BenchmarkFeed100(b *testing.B) { benchmarkFeed(b, 100) }

// BenchmarkIdleFeed is what a feed with a client takes while nothing happens, the
// goroutine that reads its source included.
func BenchmarkIdleFeed(b *testing.B) {
	h := stream.NewHub(stream.HubOptions{Limits: stream.Limits{Event: 1 << 20, Idle: time.Hour}})
	const n = 10_000
	sum := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	for b.Loop() {
		bodies := make([]*agent, n)
		opens := make([]stream.Opened, n)
		for i := range n {
			bodies[i], opens[i] = opened()
		}
		before := sum()
		for i := range n {
			f := h.Open(opens[i])
			f.Tip()
			if _, err := f.Bind(b.Context(), fmt.Sprint("task ", i)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(sum()-before)/n, "B/feed")
		h.Close()
		h = stream.NewHub(stream.HubOptions{Limits: stream.Limits{Event: 1 << 20, Idle: time.Hour}})
		runtime.KeepAlive(bodies)
	}
}
