package overload

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemoryIsMeasured holds what is measured to what the test keeps.
func TestMemoryIsMeasured(t *testing.T) {
	m := newMeasure()
	read := func() int64 {
		runtime.GC()
		used, _ := m.read()
		return used
	}
	before := read()
	const size = 64 << 20
	kept := make([]byte, size)
	if with := read() - before; with < size/2 {
		t.Errorf("%d bytes more with %d kept", with, size)
	}
	runtime.KeepAlive(kept)
	if after := read() - before; after > size/2 {
		t.Errorf("%d bytes more after they were let go", after)
	}
}

// TestBounds: the limits that stand in the configuration, else what GOMEMLIMIT says.
func TestBounds(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, tt := range []struct {
		process, memory, soft int64
		wantSoft, wantHard    int64
	}{
		{math.MaxInt64, 0, 0, 0, 0},
		{math.MaxInt64, 1000, 0, 850, 1000},
		{math.MaxInt64, 1000, 300, 300, 1000},
		{math.MaxInt64, 0, 300, 300, 0},
		{1 << 30, 0, 0, (1 << 30) / 10 * 9 / 20 * 17, (1 << 30) / 10 * 9},
		{1 << 30, 2000, 0, 1700, 2000},
		{1 << 30, 0, 1 << 40, (1 << 30) / 10 * 9 / 20 * 17, (1 << 30) / 10 * 9}, // more than all
	} {
		debug.SetMemoryLimit(tt.process)
		soft, hard := bounds(&Limits{Memory: tt.memory, SoftMemory: tt.soft})
		if soft != tt.wantSoft || hard != tt.wantHard {
			t.Errorf("%+v: %d and %d", tt, soft, hard)
		}
	}
}

// TestHeed: a configured limit is the collector's, where nobody has told it one.
func TestHeed(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	said := int64(0)
	for _, step := range []struct{ process, configured, want int64 }{
		{math.MaxInt64, 0, math.MaxInt64},
		{math.MaxInt64, 9 << 40, 10 << 40},
		{0, 18 << 40, 20 << 40}, // a reload
		{0, 18 << 40, 20 << 40},
		{0, 0, math.MaxInt64},
		{7 << 40, 9 << 40, 7 << 40}, // GOMEMLIMIT
		{7 << 40, 0, 7 << 40},
	} {
		if step.process > 0 {
			debug.SetMemoryLimit(step.process)
		}
		said = heed(step.configured, said)
		if got := debug.SetMemoryLimit(-1); got != step.want {
			t.Errorf("%+v: %d", step, got)
		}
	}
}

// TestPace: garbage may be as much as what is alive, or what is to spare, unless memory is
// short.
func TestPace(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, tt := range []struct {
		live, used, hard int64
		want             int
	}{
		{0, 0, 0, 100},
		{1, 0, 0, 1600},
		{16 * mib, 0, 0, 200},
		{32 * mib, 0, 0, 100},
		{1 << 40, 0, 0, 100},
		{8 * mib, 72 * mib, 200 * mib, 400},
		{8 * mib, 100 * mib, 200 * mib, 312},
		{16 * mib, 200 * mib, 200 * mib, 100},
		{16 * mib, 300 * mib, 200 * mib, 100},
	} {
		if got := pace(tt.live, &Reading{Used: tt.used, Hard: tt.hard}); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

// TestPaceSettles: the collector is told, but not where GOGC has told it.
func TestPaceSettles(t *testing.T) {
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	now := func() int {
		percent := debug.SetGCPercent(usual)
		debug.SetGCPercent(percent)
		return percent
	}
	for _, gogc := range []string{"100", ""} {
		t.Setenv("GOGC", gogc)
		p := newPacer()
		runtime.GC()
		p.settle(&Reading{})
		if got := now(); (got > usual) != (gogc == "") {
			t.Errorf("GOGC %q: %d", gogc, got)
		}
		p.settle(&Reading{Used: 1, Hard: 1}) // there is no room any more
		if got := now(); got != usual {
			t.Errorf("GOGC %q without memory: %d", gogc, got)
		}
	}
}
