package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// hub is a hub of its own for a test, which ends it.
func hub(t *testing.T, change func(*stream.HubOptions)) *stream.Hub {
	t.Helper()
	o := stream.HubOptions{Limits: limits(), Replica: "one"}
	if change != nil {
		change(&o)
	}
	h := stream.NewHub(o)
	t.Cleanup(h.Close)
	return h
}

// judge keeps every event but "ping"; "end" is the last, "rest" waits for the caller, "bad"
// is refused.
func judge(e agentevents.Event) ([]stream.Entry, error) {
	text := string(e.Data)
	switch text {
	case "bad":
		return nil, errRefused
	case "ping":
		return nil, nil
	case "panic":
		panic(text)
	}
	return []stream.Entry{{Name: e.Name, Data: e.Data, Last: text == "end", Rest: text == "rest"}}, nil
}

// agent is a source that a test writes. It never waits for its reader.
type agent struct {
	mu     sync.Mutex
	there  *sync.Cond
	said   []byte
	err    error // behind what was said
	closed bool
}

func opened() (*agent, stream.Opened) {
	a := &agent{}
	a.there = sync.NewCond(&a.mu)
	return a, stream.Opened{Body: a, Judge: judge, Form: "form"}
}

func (a *agent) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.said) == 0 && a.err == nil && !a.closed {
		a.there.Wait()
	}
	switch {
	case a.closed:
		return 0, errors.New("read of a closed body")
	case len(a.said) == 0:
		return 0, a.err
	}
	// Little by little, so that what is not read yet can be told.
	n := copy(p[:min(len(p), 64)], a.said)
	a.said = a.said[n:]
	return n, nil
}

func (a *agent) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.there.Broadcast()
	return nil
}

func (a *agent) then(said string, err error) {
	a.mu.Lock()
	a.said, a.err = append(a.said, said...), err
	a.there.Broadcast()
	a.mu.Unlock()
	synctest.Wait()
}

func (a *agent) say(texts ...string) {
	for _, text := range texts {
		a.then("data: "+text+"\n\n", nil)
	}
}

func (a *agent) ends()   { a.then("", io.EOF) }
func (a *agent) breaks() { a.then("", errors.New("reset")) }

func (a *agent) isStopped() bool {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// unread is what nobody has read of what was said.
func (a *agent) unread() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.said)
}

// next is what a client has or gets within two seconds.
func next(c *stream.Cursor) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	e, err := c.Next(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", e.Number, e.Data), nil
}

// wants checks what comes next: entries by number and text, then perhaps an error.
func wants(t testing.TB, c *stream.Cursor, texts string, err error) {
	t.Helper()
	for _, want := range strings.Split(texts, ", ") {
		if want == "" {
			continue
		}
		if got, err := next(c); got != want || err != nil {
			t.Fatalf("%q and %v, want %q", got, err, want)
		}
	}
	if err == nil {
		return
	}
	if got, fault := next(c); !errors.Is(fault, err) {
		t.Fatalf("%q and %v, want %v", got, fault, err)
	}
}

func bind(t testing.TB, f *stream.Feed, task string, want bool) {
	t.Helper()
	bound, err := f.Bind(t.Context(), task)
	if err != nil || bound != want {
		t.Fatalf("bound: %v, %v", bound, err)
	}
}

func find(t testing.TB, h *stream.Hub, task string) *stream.Feed {
	t.Helper()
	f, err := h.Find(t.Context(), task)
	if err != nil || f == nil {
		t.Fatalf("%v, %v", f, err)
	}
	return f
}

func cursor(t testing.TB, f *stream.Feed, after uint64) *stream.Cursor {
	t.Helper()
	c, err := f.Cursor(after)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lasts(d time.Duration) *quantity.Duration { s := quantity.Duration(d); return &s }

// TestFeed: a task's events go to all who follow it, from where they want.
func TestFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, o := opened()
		f := h.Open(o)
		first := cursor(t, f, 0)
		a.say("a")
		wants(t, first, "0 a", nil)
		bind(t, f, "task", true)
		if n := first.Number(); n != 1 {
			t.Errorf("the first entry is number %d afterwards", n)
		}
		a.say("b", "c")
		second := cursor(t, find(t, h, "task"), 1)
		third := find(t, h, "task").Tip()
		a.say("end")
		a.ends()
		wants(t, first, "2 b, 3 c, 4 end", io.EOF)
		wants(t, second, "2 b, 3 c, 4 end", io.EOF)
		wants(t, third, "4 end", io.EOF)
		for _, after := range []uint64{5, 1 << 60} {
			if _, err := f.Cursor(after); !errors.Is(err, stream.ErrGap) {
				t.Errorf("after %d: %v", after, err)
			}
		}
		if from, entries := f.Entries(); from != 1 || len(entries) != 4 || entries[3].Number != 4 || !entries[3].Last {
			t.Errorf("%d, %+v", from, entries)
		}
	})
}

// running is a feed that is bound to "task", with its first client at its end.
func running(t testing.TB, h *stream.Hub) (*agent, *stream.Feed, *stream.Cursor) {
	t.Helper()
	a, o := opened()
	f := h.Open(o)
	c := cursor(t, f, 0)
	bind(t, f, "task", true)
	return a, f, c
}

// TestLinger: when the last client has gone the source is read on for a while, and one
// who comes back has missed nothing.
func TestLinger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, f, c := running(t, h)
		a.say("a")
		c.Close()
		time.Sleep(29 * time.Second)
		a.say("b")
		c = cursor(t, find(t, h, "task"), 0)
		time.Sleep(50 * time.Second) // longer than linger, with a client
		a.say("c")
		wants(t, c, "1 a, 2 b, 3 c", context.DeadlineExceeded)
		c.Close()
		time.Sleep(31 * time.Second)
		if !a.isStopped() {
			t.Fatal("the source is read for nobody")
		}
		c = cursor(t, find(t, h, "task"), 1)
		wants(t, c, "2 b, 3 c", stream.ErrLost)
		b, o := opened()
		if !f.Resume(o) {
			t.Fatal("not resumed")
		}
		b.say("d", "end")
		b.ends()
		wants(t, c, "4 d, 5 end", io.EOF)
	})
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, func(o *stream.HubOptions) { o.Config.Linger = lasts(0) })
		a, _, c := running(t, h)
		a.say("a")
		if c.Close(); !a.isStopped() {
			t.Error("the source is read for nobody")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a, o := opened()
		c := cursor(t, hub(t, nil).Open(o), 0)
		a.say("a")
		if c.Close(); !a.isStopped() {
			t.Error("the source of a feed that nobody can join is read on")
		}
	})
}

// TestRetain: a feed is there for a while after its end or its last client, whichever is
// later.
func TestRetain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, _, c := running(t, h)
		a.say("a", "end")
		a.ends()
		time.Sleep(time.Hour)
		c.Close()
		time.Sleep(4 * time.Minute)
		late := cursor(t, find(t, h, "task"), 1)
		wants(t, late, "2 end", io.EOF)
		late.Close()
		time.Sleep(4 * time.Minute)
		cursor(t, find(t, h, "task"), 0).Close()
		time.Sleep(5*time.Minute + time.Second)
		if f, err := h.Find(t.Context(), "task"); f != nil || err != nil {
			t.Errorf("%v, %v", f, err)
		}
	})
}

// TestRest: a stream that ends where the task waits for its caller is not lost, and the
// caller's next message goes on with its numbers, for those who still follow too.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, f, c := running(t, h)
		a.say("a", "rest")
		a.ends()
		wants(t, c, "1 a, 2 rest", io.EOF)
		epoch := f.Epoch(1)
		b, o := opened()
		f = h.Open(o)
		d := cursor(t, f, 0)
		b.say("b")
		wants(t, d, "0 b", nil)
		bind(t, f, "task", true)
		if n := d.Number(); n != 3 || f.Epoch(3) != epoch {
			t.Errorf("number %d, epoch %x, want %x", n, f.Epoch(3), epoch)
		}
		b.say("c", "end")
		b.ends()
		wants(t, d, "4 c, 5 end", io.EOF)
		wants(t, c, "3 b, 4 c, 5 end", io.EOF)
		wants(t, cursor(t, find(t, h, "task"), 1), "2 rest, 3 b, 4 c, 5 end", io.EOF)

		_, o = opened()
		f = h.Open(o)
		bind(t, f, "task", false) // it has ended
		cursor(t, f, 0).Close()
	})
}

// TestSecondSource: while a task has a source, another one of it stays by itself.
func TestSecondSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, f, c := running(t, h)
		b, o := opened()
		g := h.Open(o)
		d := cursor(t, g, 0)
		bind(t, g, "task", false)
		bind(t, f, "task", true)
		bind(t, f, "other", false)
		a.say("a")
		b.say("x", "end")
		b.ends()
		wants(t, c, "1 a", context.DeadlineExceeded)
		wants(t, d, "0 x, 0 end", io.EOF)
		if d.Number() != 0 || g.Epoch(1) != [8]byte{} {
			t.Error("a feed by itself has numbers")
		}
	})
}

// TestLost: one client is told that the source is lost; when it leaves, another is.
func TestLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, f, c := running(t, h)
		d, e := f.Tip(), f.Tip()
		a.say("a")
		a.breaks()
		wants(t, c, "1 a", stream.ErrLost)
		wants(t, c, "", ending.ErrBroken) // asked again, it is told again
		wants(t, d, "1 a", context.DeadlineExceeded)
		told := make(chan error, 1)
		go func() {
			_, err := d.Next(t.Context())
			told <- err
		}()
		synctest.Wait()
		c.Close()
		if err := <-told; !errors.Is(err, stream.ErrLost) {
			t.Error(err)
		}
		wants(t, e, "1 a", context.DeadlineExceeded)
		b, o := opened()
		spare, another := opened()
		if !f.Resume(o) || f.Resume(another) || !spare.isStopped() {
			t.Error("resumed never or twice")
		}
		b.say("b")
		wants(t, d, "2 b", context.DeadlineExceeded)
		f.Fail(io.EOF) // too late
		b.ends()
		wants(t, d, "", stream.ErrLost)
		wants(t, e, "2 b", context.DeadlineExceeded)
		_, o = opened()
		if o.Form = "another"; f.Resume(o) {
			t.Error("resumed by a source that speaks differently")
		}
		f.Fail(errRefused)
		wants(t, d, "", errRefused)
		wants(t, e, "", errRefused)
		wants(t, f.Tip(), "", stream.ErrLost)
	})
}
