package upstream

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func testCircuit() *circuit {
	return newCircuit(Breaker{
		Failures: 5, Within: quantity.Duration(10 * time.Second), For: quantity.Duration(5 * time.Second),
	})
}

const second = int64(time.Second)

// TestCircuit follows one circuit through its life.
func TestCircuit(t *testing.T) {
	t.Parallel()
	c, now := testCircuit(), second
	call := func(what outcome) bool {
		era, ok := c.enter(now)
		if ok {
			c.leave(era, now, what)
		}
		return ok
	}
	for n, what := range []outcome{failed, failed, failed, failed, well, failed, failed, failed, failed, unsaid} {
		if !call(what) {
			t.Fatalf("open before call %d", n)
		}
	}
	now += 11 * second // what was is too long ago
	for range 4 {
		call(failed)
	}
	if c.phase(now) != closed {
		t.Fatal("opened by failures of long ago")
	}
	late, _ := c.enter(now)
	call(failed)
	if c.phase(now) != open || call(well) || c.wait(now) != 5*time.Second {
		t.Fatal("not open after five failures in a row")
	}
	if c.leave(late, now, well); c.phase(now) != open {
		t.Error("closed by a call that began before it opened")
	}
	now += 5 * second
	if !call(failed) || call(well) {
		t.Error("after the wait there is one probe, whose failure opens again")
	}
	now += 5 * second
	if !call(unsaid) || !call(well) {
		t.Error("a probe whose caller left gives way to the next")
	}
	if c.phase(now) != closed || !call(well) {
		t.Error("not closed after a probe that went well")
	}
}

// TestCircuitSlowProbe: the probe's answer may take longer than the wait, and every
// answer of the instance may. It closes all the same, and does not block for ever.
func TestCircuitSlowProbe(t *testing.T) {
	t.Parallel()
	c, now := testCircuit(), second
	for range 5 {
		era, _ := c.enter(now)
		c.leave(era, now, failed)
	}
	now += 5 * second
	first, ok := c.enter(now)
	if !ok {
		t.Fatal("no probe")
	}
	if now += 6 * second; !c.admits(now) {
		t.Error("a probe without an end keeps everybody away")
	}
	if _, ok := c.enter(now); !ok {
		t.Error("no second probe")
	}
	if c.leave(first, now, well); c.phase(now) != closed {
		t.Error("the first probe's success does not count")
	}
}

// TestCircuitOneProbe has many ask at once when the wait is over.
func TestCircuitOneProbe(t *testing.T) {
	t.Parallel()
	c, now := testCircuit(), second
	for range 5 {
		era, _ := c.enter(now)
		c.leave(era, now, failed)
	}
	now += 5 * second
	var in atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, ok := c.enter(now); ok {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d probes", in.Load())
	}
}

// TestCircuitProperties: whatever happens in whichever order, a circuit that is closed
// lets everybody through, one that opened keeps everybody away for the wait, and of two
// probes the second comes a wait after the first.
func TestCircuitProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, now := testCircuit(), second
		var under []uint64
		lastProbe, opened := int64(0), int64(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += rapid.Int64Range(0, 3*second).Draw(t, "pause")
			if len(under) > 0 && rapid.Bool().Draw(t, "leave") {
				n := rapid.IntRange(0, len(under)-1).Draw(t, "which")
				what := rapid.SampledFrom([]outcome{well, failed, failed, unsaid}).Draw(t, "what")
				if c.leave(under[n], now, what) {
					opened, lastProbe = now, 0
				} else if what == unsaid {
					lastProbe = 0
				}
				under = append(under[:n], under[n+1:]...)
				continue
			}
			was := c.era.Load() % phases
			admits := c.admits(now)
			era, ok := c.enter(now)
			if ok != admits {
				t.Fatalf("admits says %v, enter %v", admits, ok)
			}
			switch {
			case !ok && was == closed:
				t.Fatal("a closed circuit keeps a call away")
			case ok && was == open && opened > 0 && lastProbe == 0 && now < opened:
				t.Fatal("a probe before its time")
			case ok && was == probing && lastProbe > 0 && now-lastProbe < 5*second:
				t.Fatal("two probes at once")
			}
			if ok {
				under = append(under, era)
				if was != closed {
					lastProbe = now
				}
			}
		}
	})
}
