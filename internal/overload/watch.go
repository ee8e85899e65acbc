package overload

import (
	"runtime"
	"time"
)

const (
	// measureEvery is how often everything is measured, off the path of calls.
	measureEvery = 100 * time.Millisecond

	// probesEach is how many probes go out between two measurements.
	probesEach = 4

	// collectAfter is for how long what is in use may be what the last collection has found,
	// while calls are refused for it. Without calls there is little reason to collect.
	collectAfter = time.Second
)

// gauges are what measures.
type gauges struct {
	memory  func() (used int64, collected uint64)
	open    func() (open int, known bool)
	probe   func()
	wait    func() time.Duration
	collect func()
	pace    func(*Reading)  // of collections; nil to leave it
	rest    func(time.Time) // from them; nil to leave it
}

// Watch measures until done is closed. limits gives what to compare with, report is told
// every measurement; it may keep what it gets, and change none of it.
func (l *Ladder) Watch(done <-chan struct{}, limits func() Limits, report func(*Reading)) {
	m, open, pace := newMeasure(), new(fds), newPacer()
	g := gauges{
		memory: m.read, open: open.read, collect: runtime.GC, pace: pace.settle,
		probe: func() {}, wait: func() time.Duration { return 0 },
	}
	if pace.ours() {
		g.rest = newRester().look
	}
	if p := newProbe(); p != nil { // without one nothing is refused for Delay
		defer p.close()
		g.probe, g.wait = p.send, p.wait
	}
	l.watch(done, limits, report, g)
}

// watch is Watch with gauges of a test's own.
func (l *Ladder) watch(done <-chan struct{}, limits func() Limits, report func(*Reading), g gauges) {
	tick := time.NewTicker(measureEvery / probesEach)
	defer tick.Stop()
	var governor governor
	var since time.Time // the last collection, or the beginning of the shortage
	var cycles uint64
	var said int64 // of GOMEMLIMIT
	last := time.Now()
	for n := 1; ; n++ {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		// A probe wakes a processor, which an idle process is not to do forty times a second.
		if l.calls.Load() > 0 { // nobody else waits
			g.probe()
		}
		if n%probesEach != 0 {
			continue
		}
		now := time.Now()
		most := limits()
		said = heed(most.Memory, said)
		// One reading for all rungs, so that they are judged by the same moment.
		r := g.read(&most)
		if g.pace != nil {
			g.pace(r)
		}
		if g.rest != nil {
			g.rest(now)
		}
		s := l.weighMemory(l.standing(), r)
		s = l.weighDescriptors(s, r)
		s = l.weighDelay(s, &governor, r, most.Delay, now.Sub(last), now)
		last = now
		l.stands.Store(uint32(s))
		r.Standing, r.Large = s.list(), l.bodies.Load()
		l.latest.Store(r)
		report(r)
		if r.collected != cycles || !s.has(SoftMemory) && !s.has(Memory) {
			cycles, since = r.collected, now
		} else if now.Sub(since) > collectAfter {
			g.collect()
		}
	}
}

// read measures everything once.
func (g *gauges) read(most *Limits) *Reading {
	r := &Reading{Permitted: most.Descriptors}
	r.Soft, r.Hard = bounds(most)
	r.Used, r.collected = g.memory()
	r.Open, r.openKnown = g.open()
	r.Delay = g.wait()
	return r
}
