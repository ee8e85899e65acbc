package stream_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

var errCut = errors.New("the store cannot be reached")

// replica is a gateway's way to a store, which can be cut.
type replica struct {
	*state.Memory

	cut   atomic.Bool // nothing reaches the store
	deaf  atomic.Bool // what is appended does, but the answer does not come back
	mute  atomic.Bool // nothing is appended
	draws atomic.Int64
}

func (r *replica) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep state.Bound) error {
	if r.cut.Load() || r.mute.Load() {
		return errCut
	}
	if err := r.Memory.Append(ctx, log, after, entries, keep); err != nil {
		return err
	}
	if r.deaf.Load() {
		return errCut
	}
	return nil
}

func (r *replica) Read(ctx context.Context, log string, after uint64, limit int) (state.Tail, error) {
	if r.cut.Load() {
		return state.Tail{}, errCut
	}
	return r.Memory.Read(ctx, log, after, limit)
}

func (r *replica) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	if r.draws.Add(1); r.cut.Load() {
		return nil, errCut
	}
	return r.Memory.Draw(ctx, draws)
}

func (r *replica) Release(ctx context.Context, holds []state.Draw) error {
	if r.cut.Load() {
		return errCut
	}
	return r.Memory.Release(ctx, holds)
}

func memory(t *testing.T) *state.Memory {
	m := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// join is one of the hubs on a store.
func join(t *testing.T, m *state.Memory, name string) (*replica, *stream.Hub) {
	t.Helper()
	r := &replica{Memory: m}
	return r, hub(t, func(o *stream.HubOptions) { o.Logs, o.Holds, o.Replica = r, r, name })
}

// settle waits until what is under way is done.
func settle() { time.Sleep(100 * time.Millisecond); synctest.Wait() }

// TestSilentLogIsKept: what a stream has said is there for other replicas for as long as it is
// open, however long it says nothing.
func TestSilentLogIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		r := &replica{Memory: m}
		one := hub(t, func(o *stream.HubOptions) {
			o.Logs, o.Holds, o.Replica, o.Limits.Idle = r, r, "one", 1000*time.Hour
		})
		a, _, c := running(t, one)
		a.say("a")
		settle()
		time.Sleep(60 * time.Hour)
		a.say("b")
		settle()
		wants(t, c, "1 a, 2 b", nil)
		_, two := join(t, m, "two")
		wants(t, cursor(t, find(t, two, "task"), 0), "1 a, 2 b", nil)
	})
}

// TestFollow: a client of another replica sees what a client of this one does.
func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		_, one := join(t, m, "one")
		_, two := join(t, m, "two")
		a, f, c := running(t, one)
		a.say("a", "b")
		settle()
		g := find(t, two, "task")
		if g.Epoch(1) != f.Epoch(1) || g.Form() != f.Form() {
			t.Error("the feed is another one")
		}
		d, e := cursor(t, g, 1), g.Tip()
		if _, err := g.Cursor(3); !errors.Is(err, stream.ErrGap) {
			t.Error(err)
		}
		a.say("c")
		wants(t, d, "2 b, 3 c", nil)
		time.Sleep(30 * time.Second) // many looks, and the lease stays where it is
		a.say("d", "end")
		a.ends()
		wants(t, c, "1 a, 2 b, 3 c, 4 d, 5 end", io.EOF)
		wants(t, d, "4 d, 5 end", io.EOF)
		wants(t, e, "3 c, 4 d, 5 end", io.EOF)
		settle()
		wants(t, cursor(t, find(t, two, "task"), 4), "5 end", io.EOF)
		_, o := opened()
		late := two.Open(o)
		cursor(t, late, 0)
		bind(t, late, "task", false) // it has ended
	})
}

// TestFollowBehindTheEnd: what an agent says behind the end of its task reaches clients of
// other replicas too, whenever they come.
func TestFollowBehindTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		_, one := join(t, m, "one")
		_, two := join(t, m, "two")
		_, three := join(t, m, "three")
		a, _, c := running(t, one)
		a.say("a")
		settle()
		d := cursor(t, find(t, two, "task"), 0)
		a.say("end")
		settle()
		wants(t, d, "1 a, 2 end", nil)
		e := cursor(t, find(t, three, "task"), 1)
		wants(t, e, "2 end", nil)
		time.Sleep(2 * time.Second)
		a.say("more", "end")
		a.ends()
		for _, c := range []*stream.Cursor{d, e} {
			wants(t, c, "3 more, 4 end", io.EOF)
		}
		wants(t, c, "1 a, 2 end, 3 more, 4 end", io.EOF)
		settle()
		if f := find(t, three, "task"); f.Live() {
			t.Error("live behind its end")
		}
	})
}

// TestSecondReplica: while one has the task, a source of another stays by itself; once it
// rests, the other goes on with it.
func TestSecondReplica(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		_, one := join(t, m, "one")
		_, two := join(t, m, "two")
		a, _, c := running(t, one)
		a.say("a")
		settle()
		_, o := opened()
		alone := two.Open(o)
		cursor(t, alone, 0)
		bind(t, alone, "task", false)
		a.say("rest")
		a.ends()
		wants(t, c, "1 a, 2 rest", io.EOF)
		c.Close()
		settle()
		b, o := opened()
		f := two.Open(o)
		d := cursor(t, f, 0)
		bind(t, f, "task", true)
		b.say("b")
		wants(t, d, "3 b", nil)
		settle()
		e := cursor(t, find(t, one, "task"), 1)
		wants(t, e, "2 rest, 3 b", nil)
		b.say("end")
		b.ends()
		wants(t, e, "4 end", io.EOF)
	})
}

// TestTakeOver: a replica that is gone without a word is followed by another as soon as
// its lease has run out; one that was closed, at once.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cut  bool
		wait time.Duration
	}{"closed": {false, 2 * time.Second}, "lost": {true, 17 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			m := memory(t)
			r, one := join(t, m, "one")
			_, two := join(t, m, "two")
			a, _, c := running(t, one)
			a.say("a")
			settle()
			g := find(t, two, "task")
			d := cursor(t, g, 0)
			wants(t, d, "1 a", nil)
			time.Sleep(time.Minute - time.Second)
			a.say("b")
			settle()
			r.cut.Store(tt.cut)
			wants(t, c, "1 a, 2 b", nil)
			one.Close()
			wants(t, c, "", ending.ErrDraining)
			began := time.Now()
			wants(t, d, "2 b", nil)
			if _, err := d.Next(t.Context()); !errors.Is(err, stream.ErrLost) || time.Since(began) > tt.wait {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			b, o := opened()
			if !g.Resume(o) {
				t.Fatalf("%s: not resumed", name)
			}
			b.say("c", "end")
			b.ends()
			wants(t, d, "3 c, 4 end", io.EOF)
		})
	}
}

// TestFenced: a replica that could not renew its lease gives the task up; what it did
// not write never was.
func TestFenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		r, one := join(t, m, "one")
		_, two := join(t, m, "two")
		a, f, c := running(t, one)
		slow := f.Tip()
		a.say("a")
		wants(t, c, "1 a", nil)
		settle()
		r.cut.Store(true)
		a.say("b")
		wants(t, c, "2 b", nil)
		d := cursor(t, find(t, two, "task"), 0)
		wants(t, d, "1 a", nil)
		if _, err := d.Next(t.Context()); !errors.Is(err, stream.ErrLost) {
			t.Fatal(err)
		}
		b, o := opened()
		if !find(t, two, "task").Resume(o) {
			t.Fatal("not resumed")
		}
		b.say("x", "y")
		settle()
		r.cut.Store(false)
		time.Sleep(6 * time.Second)
		wants(t, c, "", stream.ErrGap)
		if !a.isStopped() {
			t.Error("two replicas read the agent")
		}
		wants(t, slow, "1 a, 2 x, 3 y", context.DeadlineExceeded)
		b.say("end")
		b.ends()
		wants(t, slow, "4 end", io.EOF)
		wants(t, d, "2 x, 3 y, 4 end", io.EOF)
	})
}

// TestCrash: a client that is ahead of the log finds out, one that is not goes on
// with the process that comes after.
func TestCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		r, one := join(t, m, "one")
		a, f, c := running(t, one)
		a.say("a", "b")
		settle()
		r.cut.Store(true)
		a.say("c")
		wants(t, c, "1 a, 2 b, 3 c", nil)
		epoch := f.Epoch(3)
		one.Close()

		_, again := join(t, m, "one")
		g := find(t, again, "task")
		if g.Epoch(2) != epoch {
			t.Error("another epoch")
		}
		if _, err := g.Cursor(3); !errors.Is(err, stream.ErrGap) {
			t.Error(err)
		}
		d := cursor(t, g, 1)
		wants(t, d, "2 b", nil)
		if _, err := d.Next(t.Context()); !errors.Is(err, stream.ErrLost) {
			t.Fatal(err)
		}
		b, o := opened()
		g.Resume(o)
		b.say("d", "end")
		b.ends()
		wants(t, d, "3 d, 4 end", io.EOF)
		settle()
		_, third := join(t, m, "one")
		for _, f := range []*stream.Feed{g, find(t, third, "task")} {
			// c had the number that d has now.
			if _, err := f.Since(epoch, 3); !errors.Is(err, stream.ErrGap) {
				t.Errorf("a client that is ahead of the log goes on with somebody else's entries: %v", err)
			}
			for number, want := range map[uint64]string{2: "3 d, 4 end", 3: "4 end"} {
				c, err := f.Since(f.Epoch(number), number)
				if err != nil {
					t.Fatal(err)
				}
				wants(t, c, want, io.EOF)
			}
		}
		if _, entries := g.Entries(); len(entries) != 4 || !entries[3].Last || entries[0].Seen != nil {
			t.Errorf("%+v", entries)
		}
	})
}

// TestRestart: a gateway that was shut down in order finds everything again.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		_, one := join(t, m, "one")
		a, _, c := running(t, one)
		a.say(numbers(1, 100)...)
		one.Close()
		wants(t, c, "", ending.ErrDraining)
		_, two := join(t, m, "two")
		b, o := opened()
		f := two.Open(o)
		d := cursor(t, f, 0)
		bind(t, f, "task", true) // another message of the caller's
		b.say("101", "end")
		b.ends()
		wants(t, d, "101 101, 102 end", io.EOF)
		wants(t, cursor(t, f, 50), wanted(51, 101)+", 102 end", io.EOF)
	})
}

// TestStoreAway: clients see nothing of a store that cannot be reached; what it missed is
// written later, as long as it is kept.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		r, one := join(t, m, "one")
		a, _, c := running(t, one)
		for i, fault := range []*atomic.Bool{&r.mute, &r.deaf} {
			fault.Store(true)
			a.say(numbers(100*i+1, 100*i+100)...)
			wants(t, c, wanted(100*i+1, 100*i+100), nil)
			time.Sleep(3 * time.Second)
			fault.Store(false)
			time.Sleep(3 * time.Second)
			if tail, err := m.Read(t.Context(), "stream/task", 0, 1000); err != nil || tail.Last != uint64(100*i+100) {
				t.Errorf("round %d: %d, %v", i, tail.Last, err)
			}
		}
		a.say("201")
		wants(t, c, "201 201", nil)
		r.mute.Store(true)
		for n := 202; n < 602; n++ {
			a.say(numbers(n, n)...)
			wants(t, c, wanted(n, n), nil)
		}
		r.mute.Store(false)
		time.Sleep(30 * time.Second)
		a.say("602") // in memory only: the log would have a hole
		wants(t, c, "602 602", nil)
		if tail, err := m.Read(t.Context(), "stream/task", 0, 1000); err != nil || tail.Last != 201 {
			t.Errorf("%d, %v", tail.Last, err)
		}
	})
}

// TestForgottenLog: a feed whose log is gone goes on where it is read, and ends where
// it is followed.
func TestForgottenLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		_, one := join(t, m, "one")
		_, two := join(t, m, "two")
		a, _, c := running(t, one)
		a.say("a")
		settle()
		d := cursor(t, find(t, two, "task"), 0)
		wants(t, d, "1 a", nil)
		if err := m.Drop(t.Context(), "stream/task"); err != nil {
			t.Fatal(err)
		}
		wants(t, d, "", stream.ErrGap)
		a.say("b", "end")
		a.ends()
		wants(t, c, "1 a, 2 b, 3 end", io.EOF)
		if f, err := two.Find(t.Context(), "task"); f != nil || err != nil {
			t.Errorf("%v, %v", f, err)
		}
	})
}

// TestGarbageLog is an error, and nobody's feed.
func TestGarbageLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		r, one := join(t, m, "one")
		keep := state.Bound{Entries: 10, Bytes: 1000, TTL: time.Hour}
		if err := m.Append(t.Context(), "stream/task", 0, [][]byte{[]byte("garbage")}, keep); err != nil {
			t.Fatal(err)
		}
		if f, err := one.Find(t.Context(), "task"); f != nil || err == nil {
			t.Errorf("%v, %v", f, err)
		}
		_, o := opened()
		f := one.Open(o)
		cursor(t, f, 0)
		if bound, err := f.Bind(t.Context(), "task"); bound || err == nil {
			t.Errorf("%v, %v", bound, err)
		}
		r.cut.Store(true)
		if bound, err := f.Bind(t.Context(), "another"); bound || !errors.Is(err, errCut) {
			t.Errorf("%v, %v", bound, err)
		}
		r.cut.Store(false)
		bind(t, f, strings.Repeat("long", 1000), true)
	})
}

// TestLeaseGoesBack once nobody here needs it, and is renewed until then.
func TestLeaseGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t)
		r, one := join(t, m, "one")
		free := func() bool {
			d := state.Draw{Key: "stream/task", Kind: state.Hold, Limit: 1, Holder: "test", TTL: time.Second}
			drawn, err := m.Draw(t.Context(), []state.Draw{d})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Release(t.Context(), []state.Draw{d}); err != nil {
				t.Fatal(err)
			}
			return drawn[0].OK
		}
		a, f, c := running(t, one)
		for range 50 {
			time.Sleep(50 * time.Second)
			if a.say("a"); free() {
				t.Fatal("the lease ran out")
			}
			if _, err := next(c); err != nil {
				t.Fatal(err)
			}
		}
		a.breaks()
		wants(t, c, "", stream.ErrLost)
		if time.Sleep(time.Minute); free() {
			t.Error("the lease of somebody who looks for another source ran out")
		}
		c.Close()
		if settle(); !free() {
			t.Error("the lease of nobody is held")
		}
		draws := r.draws.Load()
		if time.Sleep(time.Minute); r.draws.Load() != draws {
			t.Error("the lease of nobody is renewed")
		}
		c = f.Tip() // it follows now, and finds that nobody else does
		if _, err := c.Next(t.Context()); !errors.Is(err, stream.ErrLost) {
			t.Error(err)
		}
	})
}
