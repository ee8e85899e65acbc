package overload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// machine is what a Ladder measures in a test.
type machine struct {
	used, open atomic.Int64
	wait       atomic.Int64
	cycles     atomic.Uint64
	limits     atomic.Pointer[Limits]
}

// climb watches a machine in a bubble of synctest until the test ends.
func climb(t *testing.T, limits Limits) (*Ladder, *machine) {
	t.Helper()
	l, m, done := new(Ladder), new(machine), make(chan struct{})
	m.limits.Store(&limits)
	go l.watch(done, func() Limits { return *m.limits.Load() }, func(*Reading) {}, gauges{
		memory:  func() (int64, uint64) { return m.used.Load(), m.cycles.Load() },
		open:    func() (int, bool) { return int(m.open.Load()), m.open.Load() > 0 },
		probe:   func() {},
		wait:    func() time.Duration { return time.Duration(m.wait.Load()) },
		collect: func() { m.cycles.Add(1) },
	})
	t.Cleanup(func() { close(done) })
	return l, m
}

// settle lets the machine be measured with what it has.
func settle() {
	time.Sleep(2 * measureEvery)
	synctest.Wait()
}

// TestR07_Calls: as many as may be, and another one when one has left.
func TestR07_Calls(t *testing.T) {
	t.Parallel()
	var l Ladder
	for range 2 {
		if err := l.Enter(2); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Enter(2); !errors.Is(err, Requests) {
		t.Errorf("a third call: %v", err)
	}
	if l.Leave(); l.Calls() != 1 {
		t.Errorf("%d calls", l.Calls())
	}
	if err := l.Enter(2); err != nil {
		t.Errorf("after one has left: %v", err)
	}
}

// TestR07_Memory goes up the rungs of memory and down again: each stands above its limit,
// and until 5 % of that limit are free again.
func TestR07_Memory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Memory: 1000, SoftMemory: 800})
		for _, step := range []struct {
			used     int64
			standing []Rung
		}{
			{700, nil}, {800, nil}, {801, []Rung{SoftMemory}}, {760, []Rung{SoftMemory}}, {759, nil}, {790, nil},
			{1000, []Rung{SoftMemory}}, {1001, []Rung{SoftMemory, Memory}}, {950, []Rung{SoftMemory, Memory}},
			{949, []Rung{SoftMemory}}, {990, []Rung{SoftMemory}}, {2000, []Rung{SoftMemory, Memory}}, {10, nil},
		} {
			m.used.Store(step.used)
			settle()
			if got := l.Reading().Standing; !slices.Equal(got, step.standing) {
				t.Errorf("%d in use: %v stand, want %v", step.used, got, step.standing)
			}
			err := l.Enter(1)
			if err == nil {
				l.Leave()
			}
			want := map[bool]error{true: Memory}[slices.Contains(step.standing, Memory)]
			if !errors.Is(err, want) {
				t.Errorf("%d in use: a call: %v, want %v", step.used, err, want)
			}
			want = map[bool]error{true: SoftMemory}[slices.Contains(step.standing, SoftMemory)]
			if err := l.Stream(); !errors.Is(err, want) {
				t.Errorf("%d in use: a stream: %v, want %v", step.used, err, want)
			}
			err = l.Hold("a", 1)
			if err == nil {
				l.Drop("a", 1)
			}
			if !errors.Is(err, want) {
				t.Errorf("%d in use: a large body: %v, want %v", step.used, err, want)
			}
		}
	})
}

// TestR08_BodiesAtOnce: what large bodies will take is known before it is measured, and is
// half of what is free at most.
func TestR08_BodiesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Memory: 1000})
		m.used.Store(400)
		settle()
		for i, want := range []error{nil, nil, nil, SoftMemory} {
			if err := l.Hold(strconv.Itoa(i), 100); !errors.Is(err, want) {
				t.Errorf("body %d: %v, want %v", i, err, want)
			}
		}
		l.Drop("0", 100)
		if err := l.Hold("0", 100); err != nil {
			t.Errorf("after one has gone: %v", err)
		}
		if err := l.Hold("b", math.MaxInt64/2); !errors.Is(err, SoftMemory) {
			t.Errorf("a very large one: %v", err)
		}
		if got := l.bodies.Load(); got != 300 {
			t.Errorf("%d bytes are held", got)
		}
	})
}

// TestSlowBodies: who sends large bodies that take their time has half of what there is for
// them, and others' are taken in meanwhile; what has come in makes room again.
func TestSlowBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Memory: 2000})
		m.used.Store(400) // 800 for large bodies
		settle()
		held := 0
		for l.Hold("greedy", 100) == nil {
			held++
		}
		if held != 4 {
			t.Errorf("one caller has %d bodies of 8 held", held)
		}
		for range 3 {
			if err := l.Hold("good", 100); err != nil {
				t.Fatalf("another caller's: %v", err)
			}
			l.Drop("good", 100)
		}
		for range held {
			l.Drop("greedy", 100)
		}
		if err := l.Hold("greedy", 100); err != nil {
			t.Errorf("after all have come in: %v", err)
		}
	})
}

// TestNoLimits: without limits nothing stands, whatever is measured; 0 is no limit.
func TestNoLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{})
		m.used.Store(1 << 50)
		m.open.Store(1 << 30)
		m.wait.Store(int64(time.Hour))
		time.Sleep(2 * patience)
		settle()
		if r := l.Reading(); len(r.Standing) > 0 && r.Hard == 0 {
			t.Errorf("%+v", r)
		}
		if err := errors.Join(l.Enter(1), l.Spare("a"), l.Hold("a", 1<<40), l.Stream()); err != nil && l.Reading().Hard == 0 {
			t.Error(err)
		}
	})
}

// TestR16_Descriptors: calls may grow by what is free, and when nothing is, no stream begins
// and no call beyond those there are, but for a few.
func TestR16_Descriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const permitted, usable = 300, 300 - 64
		l, m := climb(t, Limits{Descriptors: permitted})
		enter := func() (n int, err error) {
			for err = l.Enter(1000); err == nil; err = l.Enter(1000) {
				n++
			}
			return n, err
		}
		m.open.Store(usable - 10)
		settle()
		if n, err := enter(); n != 10 || !errors.Is(err, Descriptors) {
			t.Errorf("%d calls with 10 left, %v", n, err)
		}
		if err := l.Stream(); err != nil {
			t.Errorf("a stream with 10 left: %v", err)
		}
		m.open.Store(usable + 1) // of each call one
		settle()
		if n, err := enter(); n != 0 || !errors.Is(err, Descriptors) {
			t.Errorf("%d more calls with none left, %v", n, err)
		}
		if err := l.Stream(); !errors.Is(err, Descriptors) {
			t.Errorf("a stream with none left: %v", err)
		}
		for range 10 {
			l.Leave()
		}
		settle()
		if n, _ := enter(); n != fewest {
			t.Errorf("%d calls with none left and none in flight, want %d", n, fewest)
		}
		m.open.Store(usable - usable/20)
		settle()
		if !l.standing().has(Descriptors) {
			t.Error("does not stand any more with less than 5 % free")
		}
		m.open.Store(100)
		settle()
		if n, _ := enter(); n != usable-100 || l.Stream() != nil {
			t.Errorf("%d calls after all have gone, %v", n, l.Stream())
		}
	})
}

// TestCollects: what is short only by an old collection does not stay so.
func TestCollects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Memory: 1000})
		m.used.Store(1001)
		time.Sleep(10 * collectAfter)
		synctest.Wait()
		if n := m.cycles.Load(); n < 5 || n > 10 {
			t.Errorf("%d collections in %v of shortage", n, 10*collectAfter)
		}
		m.used.Store(1)
		settle()
		before := m.cycles.Load()
		time.Sleep(10 * collectAfter)
		if n := m.cycles.Load() - before; n > 0 || l.Enter(1) != nil {
			t.Errorf("%d collections after the shortage", n)
		}
	})
}

// TestLimitsMayChange: a reload is heeded.
func TestLimitsMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Memory: 1000})
		m.used.Store(900)
		settle()
		m.limits.Store(&Limits{Memory: 500})
		settle()
		if err := l.Enter(1); !errors.Is(err, Memory) {
			t.Errorf("with a lower limit: %v", err)
		}
		m.limits.Store(&Limits{Memory: 2000})
		settle()
		if err := l.Enter(1); err != nil {
			t.Errorf("with a higher limit: %v", err)
		}
	})
}

// TestRungs: every rung says which limit it is, and the measured ones can be told apart.
func TestRungs(t *testing.T) {
	t.Parallel()
	for _, r := range []Rung{Delay, SoftMemory, Memory, Requests, Streams, Descriptors} {
		if want := fmt.Sprintf("the gateway has too much to do (server.limits.%s)", string(r)); r.Error() != want {
			t.Errorf("%q", r.Error())
		}
	}
	var s set
	for i, r := range Measured() {
		if s = s.with(r, true); len(s.list()) != i+1 || !s.has(r) {
			t.Errorf("with %s: %v", r, s.list())
		}
	}
	if s = s.with(Memory, false); s.has(Memory) || !s.has(Delay) || set(0).list() != nil {
		t.Errorf("%v", s.list())
	}
}
