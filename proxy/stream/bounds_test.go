package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

func few(n int) func(*stream.HubOptions) {
	return func(o *stream.HubOptions) {
		o.Config.Buffer.Events = n
		o.Config.Buffer.CatchUp = lasts(0)
	}
}

func numbers(from, to int) (texts []string) {
	for i := from; i <= to; i++ {
		texts = append(texts, fmt.Sprint(i))
	}
	return texts
}

// wanted is what wants is to see of numbers.
func wanted(from, to int) string {
	texts := numbers(from, to)
	for i, n := range texts {
		texts[i] = n + " " + n
	}
	return strings.Join(texts, ", ")
}

// TestSlowClient: among others it is cut off, and delays nobody; alone, it delays the
// agent.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, f, slow := running(t, hub(t, few(4)))
		fast := f.Tip()
		a.say(numbers(1, 4)...)
		wants(t, slow, "1 1", nil)
		for n := 5; n <= 50; n += 2 {
			wants(t, fast, wanted(max(n-4, 1), n-3), nil)
			a.say(numbers(n, n+1)...)
		}
		wants(t, slow, "", ending.ErrSlow)
		slow.Close()
		wants(t, fast, wanted(47, 50), context.DeadlineExceeded)
	})
	synctest.Test(t, func(t *testing.T) {
		a, f, alone := running(t, hub(t, few(4)))
		a.say(numbers(1, 100)...)
		if a.unread() < 500 {
			t.Errorf("only %d bytes are left with the agent", a.unread())
		}
		time.Sleep(time.Hour) // the agent is not to blame for that
		wants(t, alone, wanted(1, 100), context.DeadlineExceeded)
		a.say(numbers(101, 120)...)
		if _, entries := f.Entries(); a.unread() == 0 || len(entries) > 4 {
			t.Errorf("%d bytes left, %d entries", a.unread(), len(entries))
		}
		alone.Close() // now nobody waits
		if synctest.Wait(); a.unread() > 0 {
			t.Error("the source of a feed without clients waits")
		}
		wants(t, cursor(t, f, 116), wanted(117, 120), nil)
		if _, err := f.Cursor(115); !errors.Is(err, stream.ErrGap) {
			t.Error(err)
		}
	})
}

// TestFirstClient: nothing gets lost before it comes, but it must come.
func TestFirstClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, few(4))
		a, o := opened()
		f := h.Open(o)
		a.say(numbers(1, 20)...)
		c := cursor(t, f, 0)
		bind(t, f, "task", true)
		wants(t, c, wanted(1, 20), nil)
		b, o := opened()
		f = h.Open(o)
		b.say(numbers(1, 20)...)
		time.Sleep(time.Minute)
		if !b.isStopped() {
			t.Error("a source is kept for nobody")
		}
		wants(t, cursor(t, f, 0), "0 1, 0 2, 0 3, 0 4", ending.ErrIdle)
	})
}

// TestNoClient: a feed that is bound and never followed is forgotten as others are.
func TestNoClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, o := opened()
		bind(t, h.Open(o), "task", true)
		a.say("a", "end")
		a.ends()
		wants(t, cursor(t, find(t, h, "task"), 0), "1 a, 2 end", io.EOF)
		b, o := opened()
		bind(t, h.Open(o), "other", true)
		b.say("a", "end")
		b.ends()
		time.Sleep(5*time.Minute + time.Second)
		if f, err := h.Find(t.Context(), "other"); f != nil || err != nil {
			t.Errorf("%v, %v", f, err)
		}
	})
}

// TestLargeEvent: one that is larger than the buffer is kept alone.
func TestLargeEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, f, c := running(t, hub(t, nil))
		large := strings.Repeat("x", 100<<10)
		a.say("a", large)
		wants(t, c, "1 a, 2 "+large, nil)
		if from, entries := f.Entries(); from != 2 || len(entries) != 1 {
			t.Errorf("%d entries from %d", len(entries), from)
		}
		a.say("b")
		wants(t, c, "3 b", nil)
		if from, entries := f.Entries(); from != 3 || len(entries) != 1 {
			t.Errorf("%d entries from %d", len(entries), from)
		}
	})
}

// TestBorrow: what one client alone is shown counts with what feeds keep, which make
// room for it where nobody needs what they keep.
func TestBorrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, func(o *stream.HubOptions) { o.Config.Buffer.Total = 100 << 10 })
		a, o := opened()
		f := h.Open(o)
		c := cursor(t, f, 0)
		bind(t, f, "task", true)
		for range 20 {
			a.say(strings.Repeat("x", 1000))
			if _, err := next(c); err != nil {
				t.Fatal(err)
			}
		}
		if kept, limit := h.Kept(); kept < 20000 || kept > 24000 || limit != 100<<10 {
			t.Errorf("%d of %d are kept", kept, limit)
		}
		if err := h.Borrow("a", 70<<10); err != nil {
			t.Error(err)
		}
		if err := h.Borrow("b", 28<<10); err != nil {
			t.Errorf("with a feed that need not keep all: %v", err)
		}
		if err := h.Borrow("c", 2<<10); !errors.Is(err, stream.ErrFull) {
			t.Errorf("beyond the limit: %v", err)
		}
		h.Return("b", 28<<10)
		if err := h.Borrow("c", 2<<10); err != nil {
			t.Error(err)
		}
		h.Return("a", 70<<10)
		h.Return("c", 2<<10)
		if kept, _ := h.Kept(); kept > 24000 {
			t.Errorf("%d are kept when all is given back", kept)
		}
	})
}

// TestGreedyJoiners: who joins stream after stream and reads nothing has half of the room for
// tasks as they are, and others are shown theirs.
func TestGreedyJoiners(t *testing.T) {
	t.Parallel()
	h := hub(t, func(o *stream.HubOptions) { o.Config.Buffer.Total = 100 << 10 })
	joined := 0
	for h.Borrow("greedy", 10<<10) == nil {
		joined++
	}
	if joined != 5 {
		t.Errorf("one client has %d tasks of 10 for itself", joined)
	}
	for range 5 {
		if err := h.Borrow("good", 10<<10); err != nil {
			t.Fatalf("another client: %v", err)
		}
		h.Return("good", 10<<10)
	}
	for range joined {
		h.Return("greedy", 10<<10)
	}
	if err := h.Borrow("greedy", 10<<10); err != nil {
		t.Errorf("after all were read: %v", err)
	}
}

// TestTotal: feeds without clients give up what they keep, longest unused first; then
// the largest feed keeps its newest event only.
func TestTotal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, func(o *stream.HubOptions) {
			o.Config.Buffer.Total, o.Config.Buffer.Bytes = 100<<10, quantity.Size(64<<10)
		})
		kilo := strings.Repeat("x", 1000)
		begin := func(task string, n int) (*agent, *stream.Feed, *stream.Cursor) {
			a, o := opened()
			f := h.Open(o)
			c := cursor(t, f, 0)
			bind(t, f, task, true)
			for range n {
				a.say(kilo)
				if _, err := next(c); err != nil {
					t.Fatal(err)
				}
			}
			return a, f, c
		}
		kept := func(f *stream.Feed) int { _, entries := f.Entries(); return len(entries) }
		_, first, c1 := begin("first", 20)
		_, second, c2 := begin("second", 20)
		c2.Close()
		c1.Close()
		_, third, _ := begin("third", 40)
		if kept(first) != 20 || kept(second) != 20 || kept(third) != 40 {
			t.Errorf("%d, %d, %d while there is room", kept(first), kept(second), kept(third))
		}
		_, fourth, _ := begin("fourth", 20)
		if kept(first) != 20 || kept(second) != 0 {
			t.Errorf("%d, %d, want the one that is longest unused to have nothing", kept(first), kept(second))
		}
		_, fifth, _ := begin("fifth", 30)
		if kept(first) != 0 || kept(third) != 40 || kept(fourth) != 20 || kept(fifth) != 30 {
			t.Errorf("%d, %d, %d, %d, want only the one without clients to have nothing",
				kept(first), kept(third), kept(fourth), kept(fifth))
		}
		_, sixth, _ := begin("sixth", 10)
		if kept(third) != 1 || kept(fourth) != 20 || kept(fifth) != 30 || kept(sixth) != 10 {
			t.Errorf("%d, %d, %d, %d, want only the largest to have one",
				kept(third), kept(fourth), kept(fifth), kept(sixth))
		}
		if _, err := second.Cursor(19); !errors.Is(err, stream.ErrGap) {
			t.Error(err)
		}
		cursor(t, second, 20).Close()
	})
}

// TestRefused: what the Judge says goes to all who follow, behind what came before.
func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"bad": errRefused, "panic": nil, strings.Repeat("x", 2<<20): ending.ErrTooLarge,
	} {
		synctest.Test(t, func(t *testing.T) {
			a, f, c := running(t, hub(t, nil))
			d := f.Tip()
			a.say("a", text, "b")
			wants(t, c, "1 a", nil)
			_, err := next(c)
			if want != nil && !errors.Is(err, want) || err == nil || errors.Is(err, stream.ErrLost) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%.9s: %v", text, err)
			}
			wants(t, d, "1 a", err)
			if !a.isStopped() {
				t.Error("the source is read on")
			}
			wants(t, cursor(t, f, 0), "1 a", stream.ErrLost) // who comes later may try
		})
	}
}

// TestAlone: a feed of no task ends as its source does.
func TestAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(*agent)
		want error
	}{
		"ends":                {(*agent).ends, io.EOF},
		"breaks":              {(*agent).breaks, ending.ErrBroken},
		"is silent":           {func(*agent) { time.Sleep(time.Minute) }, ending.ErrIdle},
		"stops in the middle": {func(a *agent) { a.then("data: b", io.EOF) }, ending.ErrBroken},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, o := opened()
			stops := 0
			o.Stop = func() { stops++ }
			c := cursor(t, hub(t, nil).Open(o), 0)
			a.say("a")
			tt.end(a)
			synctest.Wait()
			wants(t, c, "0 a", tt.want)
			if wants(t, c, "", tt.want); stops != 1 {
				t.Errorf("%s: stopped %d times", name, stops)
			}
		})
	}
}

// TestBoundLate: a source may have come to its end before its feed is bound.
func TestBoundLate(t *testing.T) {
	t.Parallel()
	for text, tt := range map[string]struct{ bound, later error }{
		"end": {io.EOF, io.EOF}, "rest": {io.EOF, io.EOF}, "a": {stream.ErrLost, stream.ErrLost}, "bad": {errRefused, stream.ErrLost},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := hub(t, nil)
			a, o := opened()
			f := h.Open(o)
			c := cursor(t, f, 0)
			a.say("1", text)
			a.ends()
			wants(t, c, "0 1", nil)
			bind(t, f, "task", true)
			if text != "bad" {
				wants(t, c, "2 "+text, nil)
			}
			wants(t, c, "", tt.bound)
			c.Close()
			wants(t, find(t, h, "task").Tip(), "", tt.later)
		})
	}
}

// TestClientLate: a source may have come to its end before its first client is there, who is
// told how all the same.
func TestClientLate(t *testing.T) {
	t.Parallel()
	for text, later := range map[string]error{"1": stream.ErrLost, "end": errRefused} { // behind "end" nobody would do better
		synctest.Test(t, func(t *testing.T) {
			h := hub(t, nil)
			a, o := opened()
			f := h.Open(o)
			a.say(text, "bad")
			a.ends()
			synctest.Wait()
			c := cursor(t, f, 0)
			wants(t, c, "0 "+text, nil)
			bind(t, f, "task", true)
			if e, err := next(c); !errors.Is(err, errRefused) || errors.Is(err, stream.ErrLost) {
				t.Errorf("behind %s: %q and %v, want %v", text, e, err, errRefused)
			}
			c.Close()
			wants(t, find(t, h, "task").Tip(), "", later)
		})
	}
}

// TestCloseWait: an agent gets a while to close its stream behind the end of its task, and
// what it says until then is passed on. Comments, and events that nobody is given, do not
// make the while longer.
func TestCloseWait(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after func(*agent)
		more  []string
		lasts time.Duration
		cut   bool
	}{
		"closes":     {func(a *agent) { a.ends() }, nil, 0, false},
		"breaks off": {func(a *agent) { a.breaks() }, nil, 0, false},
		"says more": {func(a *agent) {
			time.Sleep(4 * time.Second)
			a.say("more", "end")
			time.Sleep(4 * time.Second)
			a.ends()
		}, []string{"2 more", "3 end"}, 8 * time.Second, false},
		"stays":       {func(*agent) {}, nil, 5 * time.Second, true},
		"only lives":  {func(a *agent) { time.Sleep(4 * time.Second); a.then(":\n\n", nil) }, nil, 5 * time.Second, true},
		"only pings":  {func(a *agent) { time.Sleep(4 * time.Second); a.say("ping") }, nil, 5 * time.Second, true},
		"begins anew": {func(a *agent) { a.say("more"); time.Sleep(20 * time.Second); a.say("end") }, []string{"2 more", "3 end"}, 25 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, f, c := running(t, hub(t, func(o *stream.HubOptions) { o.Limits.Idle = time.Minute }))
			a.say("end")
			wants(t, c, "1 end", nil)
			began := time.Now()
			if f.Live() {
				t.Errorf("%s: live behind its end", name)
			}
			done := make(chan struct{})
			go func() { defer close(done); tt.after(a) }()
			var got []string
			e, err := c.Next(t.Context())
			for ; err == nil; e, err = c.Next(t.Context()) {
				got = append(got, fmt.Sprintf("%d %s", e.Number, e.Data))
			}
			if !errors.Is(err, io.EOF) || !slices.Equal(got, tt.more) {
				t.Errorf("%s: %q and %v", name, got, err)
			}
			lasted := time.Since(began)
			if <-done; lasted != tt.lasts || f.Cut() != tt.cut || !a.isStopped() {
				t.Errorf("%s: ended after %v, cut off: %v", name, lasted, f.Cut())
			}
			c.Close()
		})
	}
}

// TestDropped: what comes behind an event that ends a stream is counted, until the agent
// has ended it or it has been enough.
func TestDropped(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 2000)
	for name, tt := range map[string]struct {
		says  func(*agent)
		want  stream.Dropped
		lasts time.Duration
	}{
		"refused":           {func(a *agent) { a.say("bad", "2", "33"); a.ends() }, stream.Dropped{Events: 3, Bytes: 6, Err: errRefused}, 0},
		"the last of all":   {func(a *agent) { a.say("bad"); a.ends() }, stream.Dropped{Events: 1, Bytes: 3, Err: errRefused}, 0},
		"goes on for ever":  {func(a *agent) { a.say("bad", "2") }, stream.Dropped{Events: 2, Bytes: 4, More: true, Err: errRefused}, time.Second},
		"breaks off":        {func(a *agent) { a.say("bad", "2"); a.breaks() }, stream.Dropped{Events: 2, Bytes: 4, More: true, Err: errRefused}, 0},
		"too large":         {func(a *agent) { a.say(large, "2"); a.ends() }, stream.Dropped{Events: 2, Bytes: int64(len(large)) + 9, Err: ending.ErrTooLarge}, 0},
		"refused and large": {func(a *agent) { a.say("bad", large, "2"); a.ends() }, stream.Dropped{Events: 3, Bytes: int64(len(large)) + 12, Err: errRefused}, 0},
		"too large for all": {func(a *agent) { a.then("data: "+large, nil) }, stream.Dropped{Events: 1, Bytes: int64(len(large)) + 6, More: true, Err: ending.ErrTooLarge}, time.Second},
		"behind the end":    {func(a *agent) { a.say("end", "bad", "2"); a.ends() }, stream.Dropped{Events: 2, Bytes: 4, Err: errRefused}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, f, c := running(t, hub(t, func(o *stream.HubOptions) { o.Limits.Event = 1000 }))
			a.say("1")
			wants(t, c, "1 1", nil)
			began := time.Now()
			if tt.says(a); name == "behind the end" {
				wants(t, c, "2 end", nil)
			}
			_, err := c.Next(t.Context())
			var got *stream.Dropped
			if !errors.As(err, &got) || !errors.Is(err, tt.want.Err) || got.Error() != got.Err.Error() {
				t.Fatalf("%s: %v", name, err)
			}
			if got.Events != tt.want.Events || got.Bytes != tt.want.Bytes || got.More != tt.want.More || time.Since(began) != tt.lasts {
				t.Errorf("%s: %+v after %v", name, got, time.Since(began))
			}
			if f.Cut() {
				t.Errorf("%s: in good order", name)
			}
			c.Close()
		})
	}
}

// TestEvilSources stay within limits, whatever they send.
func TestEvilSources(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		piece string
		times int
		want  error
	}{
		"a line without end":       {strings.Repeat("x", 1<<20), 100, ending.ErrTooLarge},
		"a comment without end":    {":" + strings.Repeat("x", 1<<20), 100, ending.ErrTooLarge},
		"data lines without end":   {"data: x\n", 1 << 18, ending.ErrTooLarge},
		"a name without end":       {"event: " + strings.Repeat("x", 1<<20), 100, ending.ErrTooLarge},
		"nothing but comments":     {":\n", 1 << 18, ending.ErrIdle},
		"nothing but blank lines":  {"\n\r\n\r", 1 << 18, ending.ErrIdle},
		"events that hold no data": {"event: x\nid: 1\n\n", 1 << 16, ending.ErrIdle},
		"bytes of no encoding":     {"data: \xff\xfe\x00\n\n", 1, ending.ErrIdle},
	} {
		synctest.Test(t, func(t *testing.T) {
			body := &endless{frame: []byte(tt.piece), n: tt.times}
			_, o := opened()
			o.Body = silent{body, make(chan struct{})}
			c := cursor(t, hub(t, nil).Open(o), 0)
			for {
				e, err := c.Next(t.Context())
				if err == nil && string(e.Data) == "\xff\xfe\x00" {
					continue // for the Judge to say
				}
				if !errors.Is(err, tt.want) {
					t.Errorf("%s: %.20q, %v", name, e.Data, err)
				}
				break
			}
		})
	}
}

// silent is a body that does not end.
type silent struct {
	*endless

	closed chan struct{}
}

func (s silent) Read(p []byte) (int, error) {
	n, err := s.endless.Read(p)
	if err == io.EOF {
		<-s.closed
	}
	return n, err
}

func (s silent) Close() error { close(s.closed); return nil }

// TestClose ends everything; a hub that is closed begins nothing.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hub(t, nil)
		a, f, c := running(t, h)
		b, o := opened()
		single := cursor(t, h.Open(o), 0)
		if h.Close(); !a.isStopped() || !b.isStopped() {
			t.Error("a source runs on")
		}
		wants(t, c, "", ending.ErrDraining)
		wants(t, single, "", ending.ErrDraining)
		d, o := opened()
		late := h.Open(o)
		wants(t, cursor(t, late, 0), "", ending.ErrDraining)
		if bind(t, late, "other", false); !d.isStopped() {
			t.Error("a source was opened")
		}
		c.Close()
		f.Tip().Close()
	})
}
