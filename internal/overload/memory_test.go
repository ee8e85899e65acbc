package overload

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
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

// TestPaceCheaper: more garbage may gather where collecting it is dear, as far as memory
// goes, and not for collections that somebody has asked for or that come every two minutes.
func TestPaceCheaper(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, tt := range []struct {
		name       string
		after      time.Duration
		t          toil
		live       int64
		now, want  int
		unmeasured bool
	}{
		{name: "cheap", after: 2 * time.Second, t: toil{collecting: 10.01, working: 11}, now: 100, want: 100},
		{name: "dear", after: 2 * time.Second, t: toil{collecting: 10.1, working: 11}, now: 100, want: 189},
		{name: "still dear", after: 2 * time.Second, t: toil{collecting: 10.1, working: 11}, now: 190, want: 360},
		{name: "very dear", after: 2 * time.Second, t: toil{collecting: 11, working: 11}, now: 100, want: 400},
		{name: "cheaper than need be", after: 2 * time.Second, t: toil{collecting: 10.02, working: 11}, now: 400, want: 151},
		{name: "more stays", after: 2 * time.Second, t: toil{collecting: 11, working: 11}, live: 120, now: 250, want: 250},
		{name: "more stays, which is cheap", after: 2 * time.Second, t: toil{collecting: 10.01, working: 11}, live: 120, now: 250, want: 100},
		{name: "none has ended", after: 2 * time.Second, t: toil{collecting: 10, working: 10}, now: 200, want: 250, unmeasured: true},
		{name: "too soon", after: time.Second / 2, t: toil{collecting: 11, working: 11}, now: 200, want: 250, unmeasured: true},
		{name: "asked for", after: 2 * time.Second, t: toil{collecting: 11, working: 11, asked: 1}, now: 200, want: 100},
		{name: "nothing to do", after: time.Minute, t: toil{collecting: 11, working: 11}, now: 200, want: 100},
	} {
		begin := time.Now()
		p := pacer{now: tt.now, cheaper: 250, since: toil{collecting: 10, working: 10, live: 100}, looked: begin}
		p.look(begin.Add(tt.after), tt.live, func() toil { return tt.t })
		if p.cheaper != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, p.cheaper, tt.want)
		}
		if measured := p.looked != begin; measured == tt.unmeasured {
			t.Errorf("%s: measured %v", tt.name, measured)
		}
	}
	for _, tt := range []struct {
		live, machine, used, hard int64
		want                      int
	}{
		{gib, 64 * gib, 0, 0, 400},
		{gib, 32 * gib, 0, 0, 200},
		{gib, 4 * gib, 0, 0, 100},
		{gib, 0, 0, 0, 100}, // nobody knows
		{gib, 64 * gib, 2 * gib, 10 * gib, 200},
		{gib, 64 * gib, 9 * gib, 10 * gib, 100},
		{0, 64 * gib, 0, 0, 100},
	} {
		p := pacer{machine: tt.machine}
		if got := p.beyond(tt.live, &Reading{Used: tt.used, Hard: tt.hard}); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}
