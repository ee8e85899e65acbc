package history

import "time"

// ring holds steps of one length, the oldest of which makes room for a new one. Steps are
// numbered by the clock, from 1970 on: a step has its place by its number, and a place says
// which step it holds, so that one for which nothing was read is not taken for one of nought.
type ring struct {
	every time.Duration
	steps []step
}

// step is what there was in one step.
type step struct {
	at     int64         // its number; 0 for a place that is free
	lasted time.Duration // for so long counters were watched

	calls, unwell, denied uint64
	streams, webhooks     int // the most that were seen
	took                  []uint32
}

// newRing makes a ring that reaches back as far as kept, with one step more, which is the one
// that goes on.
func newRing(every, kept time.Duration, buckets int) ring {
	r := ring{every: every, steps: make([]step, kept/every+1)}
	all := make([]uint32, len(r.steps)*buckets)
	for i := range r.steps {
		r.steps[i].took = all[i*buckets : (i+1)*buckets : (i+1)*buckets]
	}
	return r
}

// number is that of the step in which a time is.
func (r *ring) number(t time.Time) int64 { return t.UnixNano() / int64(r.every) }

// begin is when a step begins.
func (r *ring) begin(number int64) time.Time { return time.Unix(0, number*int64(r.every)).UTC() }

// add counts what came between two times. It belongs to the step in the middle of them: counters
// are read a moment after a step has ended, and that moment is the next one's. Where nobody read
// them for longer, as the machine slept, it belongs to the step that goes on.
func (r *ring) add(from, to time.Time, s *Sample) {
	lasted := to.Sub(from)
	middle := from.Add(lasted / 2)
	if lasted > 2*r.every {
		lasted, middle = r.every, to.Add(-1)
	}
	st := r.place(r.number(middle))
	st.lasted += lasted
	st.calls += s.Calls
	st.unwell += s.Unwell
	st.denied += s.Denied
	st.streams = max(st.streams, s.Streams)
	st.webhooks = max(st.webhooks, s.Webhooks)
	for i := range min(len(st.took), len(s.Took)) {
		st.took[i] += uint32(s.Took[i]) //nolint:gosec // of ten seconds, or a minute
	}
}

// place is that of a step, which another one may have had.
func (r *ring) place(number int64) *step {
	st := &r.steps[number%int64(len(r.steps))]
	if st.at != number {
		clear(st.took)
		*st = step{at: number, took: st.took}
	}
	return st
}

// between puts the steps from one time until another together, to at most mostSteps of them.
func (r *ring) between(from, until time.Time) Span {
	first, last := r.number(from), max(r.number(until.Add(-1)), r.number(from))
	each := (last - first + mostSteps - 1) / mostSteps // of the ring's steps in one of the span's
	each = max(each, 1)
	begin := first / each
	s := Span{
		Since: r.begin(begin * each), Until: r.begin((last/each + 1) * each),
		Every: time.Duration(each) * r.every, Steps: make([]Step, last/each-begin+1),
	}
	for i := range s.Steps {
		for n := (begin + int64(i)) * each; n < (begin+int64(i)+1)*each; n++ {
			if st := &r.steps[n%int64(len(r.steps))]; st.at == n {
				s.Steps[i].add(st)
			}
		}
		s.Total.merge(&s.Steps[i])
	}
	return s
}
