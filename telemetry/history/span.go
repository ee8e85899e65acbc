package history

import "time"

// Span is what there was from Since until Until.
type Span struct {
	Since, Until time.Time
	Began        time.Time     // nothing is known from before
	Every        time.Duration // length of a step
	Steps        []Step        // the latest last; it may go on
	Total        Step          // of all of them

	// Streams and Webhooks are how many are open and wait now, whatever was asked for.
	Streams, Webhooks int

	bounds []float64
}

// Step is what there was in a part of a Span.
type Step struct {
	// Lasted is for how long counters were watched: 0 where nothing is known, less than the
	// step is long where it goes on or the gateway was started in it.
	Lasted time.Duration

	Calls, Unwell, Denied uint64
	Streams, Webhooks     int // the most that were seen

	took []uint64
}

// add puts a step of a ring to this one.
func (t *Step) add(st *step) {
	if t.took == nil {
		t.took = make([]uint64, len(st.took))
	}
	t.Lasted += st.lasted
	t.Calls += st.calls
	t.Unwell += st.unwell
	t.Denied += st.denied
	t.Streams = max(t.Streams, st.streams)
	t.Webhooks = max(t.Webhooks, st.webhooks)
	for i, n := range st.took {
		t.took[i] += uint64(n)
	}
}

// merge puts another step to this one.
func (t *Step) merge(o *Step) {
	if t.took == nil {
		t.took = make([]uint64, len(o.took))
	}
	t.Lasted += o.Lasted
	t.Calls += o.Calls
	t.Unwell += o.Unwell
	t.Denied += o.Denied
	t.Streams = max(t.Streams, o.Streams)
	t.Webhooks = max(t.Webhooks, o.Webhooks)
	if len(t.took) < len(o.took) {
		t.took = append(t.took, make([]uint64, len(o.took)-len(t.took))...)
	}
	for i, n := range o.took {
		t.took[i] += n
	}
}

// Failed are calls that did not go well for another reason than that they were not permitted.
// The counters are read one after the other, so that one may have a call that another has not.
func (t *Step) Failed() uint64 {
	if t.Denied > t.Unwell {
		return 0
	}
	return t.Unwell - t.Denied
}

// Quantile is the time in seconds that a share q of the calls of a step took no more than, by
// the differences of the buckets of the histogram: it is exact to the bucket that it falls in,
// within which calls are taken to lie evenly, as histogram_quantile of Prometheus does. Beyond
// the last bound nothing is known but that: the bound is given. 0 where there was no call.
func (s *Span) Quantile(t *Step, q float64) float64 {
	var all uint64
	for _, n := range t.took {
		all += n
	}
	if all == 0 {
		return 0
	}
	rank, below := q*float64(all), 0.0
	for i, n := range t.took {
		if i == len(s.bounds) {
			break
		}
		if float64(n) > 0 && below+float64(n) >= rank {
			low := 0.0
			if i > 0 {
				low = s.bounds[i-1]
			}
			return low + (s.bounds[i]-low)*(rank-below)/float64(n)
		}
		below += float64(n)
	}
	return s.bounds[len(s.bounds)-1]
}
