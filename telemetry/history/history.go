// Package history keeps how a gateway did in the last 24 hours: how many calls there were and
// what became of them, how long they took, and how much was open and waited.
//
// It owns the steps that this is kept in and the arithmetic on them. It counts nothing by
// itself: whoever makes a History gives it a function that reads counters (telemetry/metrics has
// them), which it calls every ten seconds and when somebody asks, so that a call costs nothing
// for it. It imports nothing of ours.
//
// # Memory
//
// Every sample is added to two rings, whose size does not depend on what happens:
//
//	| ring | a step has | steps | reaches back |
//	| --- | --- | --- | --- |
//	| fine | 10 seconds | 361 | an hour |
//	| coarse | a minute | 1441 | 24 hours |
//
// With the 17 buckets of the durations of calls that is 0.3 MiB (TestMemory). A restart begins
// with empty rings: for longer and for more there is Prometheus.
package history

import (
	"sync"
	"time"
)

// Retention is how far back a History reaches.
const Retention = 24 * time.Hour

const (
	fineEvery   = 10 * time.Second
	fineKept    = time.Hour
	coarseEvery = time.Minute

	// leastSample is how often counters are read at most, however many ask.
	leastSample = time.Second
	// mostSteps is how many steps a Span has at most, beside one that is cut off.
	mostSteps = 120
)

// Sample is what counters say: how much has come since they were read last, and how much there
// is now.
type Sample struct {
	Calls  uint64   // that ended
	Unwell uint64   // of them, those that did not go well, for whatever reason
	Denied uint64   // of them, those that were not permitted
	Took   []uint64 // of those whose duration is known, one number a bucket

	Streams, Webhooks int // open, and waiting, now
}

// History is what there was. Its methods may be called from many goroutines.
type History struct {
	bounds []float64
	read   func() Sample

	mu     sync.Mutex
	began  time.Time
	last   time.Time // until when counters were read
	latest Sample    // the last one, without what came before it
	fine   ring
	coarse ring
}

// New begins a history now. bounds are the upper ends of the buckets of durations, in seconds,
// without the last one, which has none. read is not called by two at a time.
func New(bounds []float64, read func() Sample) *History {
	now := time.Now()
	buckets := len(bounds) + 1
	return &History{
		bounds: bounds, read: read, began: now, last: now,
		fine: newRing(fineEvery, fineKept, buckets), coarse: newRing(coarseEvery, Retention, buckets),
	}
}

// Run reads the counters until closed is. It does so where steps end by the clock, so that a
// step has what happened within it.
func (h *History) Run(closed <-chan struct{}) {
	for {
		now := time.Now()
		wait := time.NewTimer(now.Truncate(fineEvery).Add(fineEvery).Sub(now))
		select {
		case <-closed:
			wait.Stop()
			return
		case <-wait.C:
			h.mu.Lock()
			h.sample()
			h.mu.Unlock()
		}
	}
}

// sample reads the counters, unless that was done a moment ago. h.mu is held.
func (h *History) sample() {
	now := time.Now()
	if now.Sub(h.last) < leastSample {
		return
	}
	s := h.read()
	h.fine.add(h.last, now, &s)
	h.coarse.add(h.last, now, &s)
	h.last, h.latest = now, Sample{Streams: s.Streams, Webhooks: s.Webhooks}
}

// Between is what there was from one time until another, of which what is in the future or
// longer ago than Retention is left out. It is brought up to date first.
func (h *History) Between(from, until time.Time) Span {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sample()
	now := time.Now()
	if until.After(now) {
		until = now
	}
	if earliest := now.Add(-Retention); from.Before(earliest) {
		from = earliest
	}
	if !from.Before(until) {
		return h.complete(Span{Since: from, Until: from, Every: fineEvery})
	}
	r := &h.coarse
	if !from.Before(now.Add(-fineKept)) {
		r = &h.fine
	}
	s := r.between(from, until)
	if s.Until.After(now) {
		s.Until = now
	}
	return h.complete(s)
}

// complete adds what is the same of every span. h.mu is held.
func (h *History) complete(s Span) Span {
	s.Began, s.bounds, s.Streams, s.Webhooks = h.began, h.bounds, h.latest.Streams, h.latest.Webhooks
	return s
}
