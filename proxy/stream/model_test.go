package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// follower is a client of the model, which knows what it has been given.
type follower struct {
	*stream.Cursor

	feed *stream.Feed
	has  uint64
}

// model is one task on one or two hubs. The agent says "1", "2", and so on: what comes
// to a client has its number for a text, and is the one behind what the client had before.
type model struct {
	hubs    []*stream.Hub
	source  *agent // nil: none that could say anything
	said    int
	clients []*follower
	most    uint64 // that any of them ever had
}

// say has the agent go on behind what the gateway has of it.
func (m *model) say(t *rapid.T) {
	if m.source == nil || m.source.isStopped() {
		t.Skip("there is no source")
	}
	for range rapid.IntRange(1, 12).Draw(t, "events") {
		m.said++
		m.source.say(strconv.Itoa(m.said))
	}
}

func (m *model) fault(t *rapid.T) {
	if m.source == nil || m.source.isStopped() {
		t.Skip("there is no source")
	}
	if m.source.breaks(); rapid.Bool().Draw(t, "all is read") {
		m.pass(t)
	}
	m.source = nil
}

func (m *model) pass(*rapid.T) { time.Sleep(3 * time.Second); synctest.Wait() }

// look gives the task's feed as some hub has it.
func (m *model) look(t *rapid.T) *stream.Feed {
	synctest.Wait() // until nothing changes by itself
	h := m.hubs[rapid.IntRange(0, len(m.hubs)-1).Draw(t, "hub")]
	f, err := h.Find(context.Background(), "task")
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		t.Skip("no feed")
	}
	return f
}

func (m *model) join(t *rapid.T) {
	f := m.look(t)
	from, entries := f.Entries()
	for i, e := range entries {
		if want := from + uint64(i); e.Number != want || string(e.Data) != fmt.Sprint(want) {
			t.Fatalf("entry %d: number %d, %q", want, e.Number, e.Data)
		}
	}
	after := uint64(rapid.IntRange(0, m.said+2).Draw(t, "after"))
	c, err := f.Cursor(after)
	if fits := after+1 >= from && after < from+uint64(len(entries)); fits != (err == nil) || err != nil && !errors.Is(err, stream.ErrGap) {
		t.Fatalf("after %d of %d to %d: %v", after, from, from+uint64(len(entries)), err)
	}
	if err == nil {
		m.clients, m.most = append(m.clients, &follower{Cursor: c, feed: f, has: after}), max(m.most, after)
	}
}

func (m *model) one(t *rapid.T) *follower {
	if len(m.clients) == 0 {
		t.Skip("no client")
	}
	return m.clients[rapid.IntRange(0, len(m.clients)-1).Draw(t, "client")]
}

func (m *model) leave(t *rapid.T) {
	c := m.one(t)
	c.Close()
	m.clients = slices.DeleteFunc(m.clients, func(o *follower) bool { return o == c })
}

// read takes some entries, and mends what is lost.
func (m *model) read(t *rapid.T) {
	c := m.one(t)
	for range rapid.IntRange(1, 20).Draw(t, "reads") {
		synctest.Wait()
		before, kept := c.feed.Entries()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		e, err := c.Next(ctx)
		cancel()
		synctest.Wait()
		from, entries := c.feed.Entries()
		tip := from + uint64(len(entries)) - 1
		switch {
		case err == nil:
			if c.has++; e.Number != c.has || string(e.Data) != fmt.Sprint(c.has) {
				t.Fatalf("number %d, %q, want %d", e.Number, e.Data, c.has)
			}
			m.most = max(m.most, c.has)
			continue
		case errors.Is(err, stream.ErrLost) && c.has == tip:
			if !m.mend(t, c, tip) {
				return
			}
			continue
		case errors.Is(err, context.DeadlineExceeded):
			if c.has+1 < before+uint64(len(kept)) {
				t.Fatalf("waits at %d of %d", c.has, tip)
			}
			return
		case errors.Is(err, ending.ErrSlow) && c.has+1 < from:
			if m.most == c.has && len(m.hubs) == 1 { // a replica waits for its own clients only
				t.Fatalf("the fastest client is too slow")
			}
			m.drop(c)
			return
		case errors.Is(err, stream.ErrGap) && len(m.hubs) > 1:
			m.drop(c)
			return
		default:
			t.Fatalf("at %d of %d to %d: %v", c.has, from, tip, err)
		}
	}
}

func (m *model) drop(c *follower) {
	c.Close()
	m.clients = slices.DeleteFunc(m.clients, func(o *follower) bool { return o == c })
}

// mend is what a client does who was told that the source is lost. It may leave, and come
// back.
func (m *model) mend(t *rapid.T, c *follower, tip uint64) bool {
	if rapid.IntRange(0, 3).Draw(t, "gives up") == 0 {
		m.drop(c)
		m.clients, m.most = append(m.clients, &follower{Cursor: c.feed.Tip(), feed: c.feed, has: tip}), max(m.most, tip)
		return false
	}
	a, o := opened()
	if c.feed.Resume(o) { // not, where somebody else has meanwhile
		m.source, m.said = a, int(tip)
	}
	return true
}

func (m *model) begin(t *rapid.T) {
	a, o := opened()
	f := m.hubs[0].Open(o)
	c, err := f.Cursor(0)
	if err != nil {
		t.Fatal(err)
	}
	if bound, err := f.Bind(context.Background(), "task"); !bound || err != nil {
		t.Fatalf("%v, %v", bound, err)
	}
	m.source, m.clients = a, []*follower{{Cursor: c, feed: f}}
}

func (m *model) run(t *rapid.T) {
	m.begin(t)
	t.Repeat(map[string]func(*rapid.T){
		"say": m.say, "fault": m.fault, "pass": m.pass, "join": m.join, "leave": m.leave, "read": m.read, "read more": m.read,
	})
	for _, c := range m.clients {
		c.Close()
	}
}

// TestModel: whatever sources and clients do, each client is given exactly what comes
// behind the entry it named, or told that this is not there.
func TestModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			h := stream.NewHub(stream.HubOptions{Config: small(), Limits: limits()})
			defer h.Close()
			m := model{hubs: []*stream.Hub{h}}
			m.run(rt)
		})
	})
}

// TestModelOfTwo is the same with two replicas.
func TestModelOfTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubble{t}, func(rt *rapid.T) {
			store := state.NewMemory(state.Config{})
			defer func() { _ = store.Close() }()
			var m model
			for _, name := range []string{"one", "two"} {
				h := stream.NewHub(stream.HubOptions{
					Config: small(), Limits: limits(), Logs: store, Holds: store, Replica: name,
				})
				defer h.Close()
				m.hubs = append(m.hubs, h)
			}
			m.run(rt)
		})
	})
}

// bubble is a test in a bubble, where its deadline has no meaning.
type bubble struct{ rapid.TB }

func small() (c stream.Config) {
	c.Buffer.Events = 8
	return c
}

// TestTake: entries are shared, and giving one costs no memory.
func TestTake(t *testing.T) {
	h := stream.NewHub(stream.HubOptions{Limits: limits()})
	defer h.Close()
	from, to := io.Pipe()
	f := h.Open(stream.Opened{Body: from, Judge: judge})
	c := cursor(t, f, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for range 300 {
			_, _ = io.WriteString(to, "data: x\n\n")
		}
	}()
	time.Sleep(200 * time.Millisecond) // until the buffer is full
	if n := testing.AllocsPerRun(100, func() {
		if _, err := c.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}); n > 4 { // the pump's for the event behind it are counted as well
		t.Errorf("%v allocations for an event", n)
	}
}
