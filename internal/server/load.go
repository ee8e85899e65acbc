package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Load is how much the process has to do, whatever the configuration: it says whether
// another call may begin. The zero value takes every call that the limits let in.
type Load struct {
	calls atomic.Int64
	short atomic.Bool // of memory
}

// Overload says why a call is not begun: the name of the limit below server.limits.
type Overload string

func (o Overload) Error() string {
	return "the gateway has too much to do (server.limits." + string(o) + ")"
}

// Enter takes a call on, of most that there may be, or says why not. It looks at two
// numbers only: who has too much to do has to say so fast. Each call that was taken on
// needs one Leave.
func (l *Load) Enter(most int) error {
	if l.short.Load() {
		return Overload("memory")
	}
	if l.calls.Add(1) > int64(most) {
		l.calls.Add(-1)
		return Overload("requests")
	}
	return nil
}

// Leave counts a call out.
func (l *Load) Leave() { l.calls.Add(-1) }

// Calls is how many have been taken on and not counted out.
func (l *Load) Calls() int { return int(l.calls.Load()) }

// measureEvery is how often memory is looked at, off the path of calls.
const measureEvery = 100 * time.Millisecond

// collectAfter is for how long what is in use may be what the last collection has found,
// while calls are refused for it. Without calls there is little reason to collect.
const collectAfter = time.Second

// Watch looks at the memory in use until done is closed. limit gives the limit, 0 for
// the default; report is told both every time, a limit of 0 for none.
func (l *Load) Watch(done <-chan struct{}, limit func() int64, report func(used, limit int64)) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	m := newMeasure()
	var since time.Time // the last collection, or the beginning of the shortage
	for cycles := uint64(0); ; {
		select {
		case <-done:
			return
		case now := <-tick.C:
			most := memoryLimit(limit())
			used, collected := m.read()
			report(used, most)
			l.weigh(used, most)
			if collected != cycles || !l.short.Load() {
				cycles, since = collected, now
			} else if now.Sub(since) > collectAfter {
				runtime.GC()
			}
		}
	}
}

// weigh judges memory: short above the limit, and until 5 % of it are free again.
func (l *Load) weigh(used, limit int64) {
	switch {
	case limit == 0, used < limit-limit/20:
		l.short.Store(false)
	case used > limit:
		l.short.Store(true)
	}
}

// memoryLimit is the configured limit or its default, 0 for none.
func memoryLimit(configured int64) int64 {
	if configured > 0 {
		return configured
	}
	if all := debug.SetMemoryLimit(-1); all < math.MaxInt64 { // a negative one only asks
		return all / 10 * 9
	}
	return 0
}

// measure reads what of the memory that GOMEMLIMIT bounds is in use, and no collection
// would give back: what the last one found alive, stacks, and the runtime's own.
type measure []metrics.Sample

func newMeasure() measure {
	names := []string{
		"/gc/cycles/total:gc-cycles", // the first one; what follows is added up
		"/gc/heap/live:bytes", "/memory/classes/heap/stacks:bytes", "/memory/classes/os-stacks:bytes",
		"/memory/classes/metadata/mcache/inuse:bytes", "/memory/classes/metadata/mspan/inuse:bytes",
		"/memory/classes/metadata/other:bytes", "/memory/classes/other:bytes", "/memory/classes/profiling/buckets:bytes",
	}
	m := make(measure, len(names))
	for i, name := range names {
		m[i].Name = name
	}
	return m
}

// read also tells how many collections there have been.
func (m measure) read() (used int64, cycles uint64) {
	metrics.Read(m)
	for _, s := range m[1:] {
		if s.Value.Kind() == metrics.KindUint64 { // a later Go may have dropped one
			used += int64(s.Value.Uint64()) //nolint:gosec // no memory is that large
		}
	}
	if m[0].Value.Kind() == metrics.KindUint64 {
		cycles = m[0].Value.Uint64()
	}
	return used, cycles
}
