package overload

import (
	"errors"
	"fmt"
	"hash/maphash"
	"testing"
	"testing/synctest"
	"time"
)

// demand is what callers ask for in a second, by name.
type demand map[string]int

// run has every caller make calls for so long, and returns how many of each were let in.
func (d demand) run(l *Ladder, lasts time.Duration) map[string]int {
	const step = 10 * time.Millisecond
	in := map[string]int{}
	for range lasts / step {
		now := time.Now()
		for who, rate := range d {
			each := time.Second / time.Duration(rate)
			phase := time.Duration(maphash.String(seed, who) % uint64(each)) // not all at once
			for at := now.Add(phase).Truncate(each).Add(-phase); at.After(now.Add(-step)); at = at.Add(-each) {
				if err := l.Spare(who); err == nil {
					in[who]++
				}
			}
		}
		time.Sleep(step)
	}
	return in
}

// TestR07_DelayHasToStand: work that waits too long for less than a second, or now and then,
// has nobody refused.
func TestR07_DelayHasToStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Delay: 100 * time.Millisecond})
		d := demand{"a": 1000}
		for range 5 {
			m.wait.Store(int64(time.Second))
			d.run(l, 900*time.Millisecond)
			m.wait.Store(int64(100 * time.Millisecond)) // not longer than it may
			if in := d.run(l, 200*time.Millisecond); in["a"] != 200 {
				t.Fatalf("%d of 200 calls were let in", in["a"])
			}
		}
		if l.standing().has(Delay) || l.shares.counting.Load() {
			t.Error("stands, or counts, with nothing to do")
		}
	})
}

// processor is a machine that does so many calls in a second; those that are let in and
// cannot be done yet have others wait.
func processor(l *Ladder, m *machine, capacity float64, d demand, lasts time.Duration) (in map[string]int) {
	const step = 50 * time.Millisecond
	in = map[string]int{}
	waiting := 0.0
	for range lasts / step {
		for who, n := range d.run(l, step) {
			in[who] += n
			waiting += float64(n)
		}
		waiting = max(0, waiting-capacity*step.Seconds())
		l.calls.Store(int64(waiting))
		m.wait.Store(int64(waiting / capacity * float64(time.Second)))
	}
	return in
}

// TestR07_SharesAreFair: at three times of what can be done, the two who ask for little get
// all of it, and the greedy ones what is left, alike; what is done is near to all that can
// be; and it ends with the load.
func TestR07_SharesAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity = 1000
		l, m := climb(t, Limits{Delay: 100 * time.Millisecond})
		d := demand{"greedy": 1400, "greedier": 1600, "little": 50, "less": 20}
		processor(l, m, capacity, d, 10*time.Second) // until it has settled
		if !l.standing().has(Delay) {
			t.Fatal("does not stand")
		}
		const lasts = 20
		in := processor(l, m, capacity, d, lasts*time.Second)
		all := 0
		for who, n := range in {
			t.Logf("%s: %d of %d a second", who, n/lasts, d[who])
			all += n / lasts
		}
		if all < capacity*8/10 || all > capacity*11/10 {
			t.Errorf("%d calls a second were let in, %d can be done", all, capacity)
		}
		for _, who := range []string{"little", "less"} {
			if got, want := in[who]/lasts, d[who]; got < want*95/100 {
				t.Errorf("%s got %d of %d", who, got, want)
			}
		}
		if a, b := in["greedy"], in["greedier"]; a*10 < b*8 || b*10 < a*8 {
			t.Errorf("of two greedy callers one got %d and the other one %d", a, b)
		}
		if r := l.Reading(); r.Refusing < .5 || r.Refusing > .8 {
			t.Errorf("says that %.2f are refused", r.Refusing)
		}
		gone := time.Now()
		calm := demand{"little": 50, "greedy": 100}
		for l.standing().has(Delay) && time.Since(gone) < time.Minute {
			processor(l, m, capacity, calm, 100*time.Millisecond)
		}
		if took := time.Since(gone); took > 5*time.Second {
			t.Errorf("stands for %v after the load has gone", took)
		}
		if in := processor(l, m, capacity, calm, time.Second); in["greedy"] < 99 || in["little"] < 49 {
			t.Errorf("afterwards %v are let in of %v", in, calm)
		}
	})
}

// TestR07_SharedCell: who asks for little gets all of it, also where a greedy one is counted
// in the same cell: in another row it is with others.
func TestR07_SharedCell(t *testing.T) {
	for shared := range rows {
		little, greedy := "little", places("greedy")
		for i := 0; places(little)[shared] != greedy[shared] || places(little)[1-shared] == greedy[1-shared]; i++ {
			little = fmt.Sprint("little", i)
		}
		synctest.Test(t, func(t *testing.T) {
			l, m := climb(t, Limits{Delay: 100 * time.Millisecond})
			d := demand{"greedy": 3000, little: 50}
			processor(l, m, 1000, d, 10*time.Second) // until it has settled
			if in := processor(l, m, 1000, d, 10*time.Second); in[little] < 10*50*95/100 {
				t.Errorf("%s got %d of %d calls", little, in[little], 10*50)
			}
		})
	}
}

// TestR07_ManyCallers: where everybody asks for little, and it is too much all the same,
// all are cut alike.
func TestR07_ManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity, callers, lasts = 400, 200, 10
		l, m := climb(t, Limits{Delay: 50 * time.Millisecond})
		d := demand{"large": 1000}
		for i := range callers {
			d[fmt.Sprint("caller", i)] = 10
		}
		processor(l, m, capacity, d, 20*time.Second)
		all := 0
		in := processor(l, m, capacity, d, lasts*time.Second)
		for _, n := range in {
			all += n / lasts
		}
		t.Logf("%d calls a second of %d that can be done, %d of the large one's", all, capacity, in["large"]/lasts)
		if all < capacity*7/10 || all > capacity*12/10 {
			t.Errorf("%d calls a second were let in, %d can be done", all, capacity)
		}
		if got := in["large"] / lasts; got > capacity/10 {
			t.Errorf("one caller of %d gets %d a second", callers, got)
		}
	})
}

// TestR07_InVain: where refusing changes nothing, since it is somebody else who takes the
// processors, it is left alone after a moment.
func TestR07_InVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := climb(t, Limits{Delay: 100 * time.Millisecond})
		m.wait.Store(int64(time.Second))
		d := demand{"a": 500, "b": 500}
		in, lasts := 0, time.Minute
		for _, n := range d.run(l, lasts) {
			in += n
		}
		if share := float64(in) / (1000 * lasts.Seconds()); share < .7 {
			t.Errorf("%.0f %% of the calls were let in", 100*share)
		}
	})
}

// TestSpareAsNothing: while nothing waits nobody is counted.
func TestSpareAsNothing(t *testing.T) {
	t.Parallel()
	var l Ladder
	for range 1000 {
		if err := l.Spare("a"); err != nil {
			t.Fatal(err)
		}
	}
	for c := range l.shares.all() {
		if c.calls.Load() != 0 {
			t.Fatal("a call was counted")
		}
	}
}

// TestProbe: what one probe waits is how long it took to be read, and one that nobody reads
// waits longer and longer.
func TestProbe(t *testing.T) {
	t.Parallel()
	p := newProbe()
	if p == nil {
		t.Skip("no pipe that the poller looks after")
	}
	defer p.close()
	if p.wait() != 0 {
		t.Error("waits before one was sent")
	}
	p.send()
	deadline := time.Now().Add(time.Minute)
	got := time.Duration(0)
	for p.sent.Load() != 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if got = p.wait(); got <= 0 || got > time.Minute {
		t.Errorf("waited %v", got)
	}
	p.sent.Store(1) // one that never came
	time.Sleep(20 * time.Millisecond)
	if again := p.wait(); again < 20*time.Millisecond {
		t.Errorf("one on its way for 20 ms has waited %v", again)
	}
}

// TestWatchMeasures: the gauges of the process itself tell something.
func TestWatchMeasures(t *testing.T) {
	t.Parallel()
	var l Ladder
	done, seen := make(chan struct{}), make(chan *Reading, 100)
	over := make(chan struct{})
	_ = l.Enter(1)
	go func() {
		defer close(over)
		l.Watch(done, func() Limits { return Limits{Memory: 1 << 40, Descriptors: 1 << 20, Delay: time.Hour} }, func(r *Reading) {
			select {
			case seen <- r:
			default:
			}
		})
	}()
	r := <-seen
	for deadline := time.After(time.Minute); r.Delay == 0; {
		select {
		case r = <-seen:
		case <-deadline:
			t.Fatal("no probe was measured")
		}
	}
	close(done)
	<-over
	if r.Used == 0 || r.Hard != 1<<40 || r.Soft == 0 || len(r.Standing) > 0 || r.openKnown && r.Open < 3 {
		t.Errorf("%+v", r)
	}
	if err := l.Enter(1); !errors.Is(err, Requests) {
		t.Error(err)
	}
}

func BenchmarkLadder(b *testing.B) {
	var l Ladder
	b.Run("calm", func(b *testing.B) {
		for b.Loop() {
			if l.Enter(1) == nil && l.Spare("a caller of some length") == nil {
				l.Leave()
			}
		}
	})
	l.shares.counting.Store(true)
	l.shares.look(10)
	l.shares.settle(10)
	b.Run("counting", func(b *testing.B) {
		for b.Loop() {
			if l.Enter(1) == nil && l.Spare("a caller of some length") == nil {
				l.Leave()
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if l.Enter(1000) == nil && l.Spare("a caller of some length") == nil {
					l.Leave()
				}
			}
		})
	})
	b.Run("settle", func(b *testing.B) {
		for b.Loop() {
			l.shares.look(10)
			l.shares.settle(10)
		}
	})
}
