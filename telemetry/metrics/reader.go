package metrics

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Reading is how much was counted since the reading before, over all agents, and what gauges
// say now.
type Reading struct {
	Calls  uint64   // of requests_total
	Unwell uint64   // of them, those with another code than OK
	Denied uint64   // of authz_decisions_total, those with the decision deny
	Took   []uint64 // of request_duration_seconds, by bucket; the last one has no bound

	Waiting int // push_queue_depth
}

// Reader reads counters again and again, for whoever wants to know what came in between. It
// reads the few that it needs where they are counted, and not the registry, which may be large.
// It remembers every series that it has read, which are as many as those counted: so an agent
// that is removed with its series, or a histogram that begins anew (it does when it has too many
// buckets), takes nothing away from others. It is for one at a time.
type Reader struct {
	metrics *Metrics
	buckets int
	turn    uint64
	calls   map[*callSeries]*callsRead
	denied  map[*ruleSeries]*denialsRead
}

// callsRead is what the series of an agent and a method had when they were read last.
type callsRead struct {
	turn          uint64 // when it was read
	moved         bool   // there were calls by then that had not been there before
	calls, unwell uint64
	took          []uint64
}

// denialsRead is the same of a rule.
type denialsRead struct {
	turn, denied uint64
}

// Reader makes one, for which everything that was counted until now is new.
func (m *Metrics) Reader() *Reader {
	return &Reader{
		metrics: m, buckets: len(DurationBounds()) + 1,
		calls: map[*callSeries]*callsRead{}, denied: map[*ruleSeries]*denialsRead{},
	}
}

// DurationBounds are the upper ends of the buckets of Reading.Took in seconds, but for the last
// one.
func DurationBounds() []float64 { return bucketsOf("calls") }

// Read reads what has come since it did so last.
func (r *Reader) Read() Reading {
	r.turn++
	now := Reading{Took: make([]uint64, r.buckets), Waiting: int(valueOf(r.metrics.Push.metrics.Depth))}
	set := r.metrics.sets.Load()
	for s := range set.series() {
		r.series(s, &now)
	}
	for _, rule := range set.rules {
		r.rule(rule, &now)
	}
	maps.DeleteFunc(r.calls, func(_ *callSeries, seen *callsRead) bool { return seen.turn != r.turn })
	maps.DeleteFunc(r.denied, func(_ *ruleSeries, seen *denialsRead) bool { return seen.turn != r.turn })
	return now
}

// series reads those of an agent and a method, if there was a call of them. A call is counted
// first and its duration after that: the histogram is read as long as the counter moves, and
// once more. Most of a large fleet stands still, and a histogram costs thirty times a counter.
func (r *Reader) series(s *callSeries, now *Reading) {
	seen := r.calls[s]
	if seen == nil {
		seen = &callsRead{took: make([]uint64, r.buckets)}
		r.calls[s] = seen
	}
	seen.turn = r.turn
	var calls, unwell uint64
	for binding := range s.requests {
		for code := range s.requests[binding] {
			p := s.requests[binding][code].Load()
			if p == nil {
				continue
			}
			n := uint64(valueOf(*p))
			calls += n
			if code != codeOK {
				unwell += n
			}
		}
	}
	moved := calls != seen.calls
	if moved || seen.moved {
		s.took(seen.took, now.Took)
	}
	now.Calls += calls - seen.calls
	now.Unwell += unwell - seen.unwell
	seen.calls, seen.unwell, seen.moved = calls, unwell, moved
}

// took adds to a reading what the histogram of durations has got since it had seen, bucket by
// bucket. One that has less of anything than it had began anew.
func (s *callSeries) took(seen, into []uint64) {
	h := histogramOf(&s.duration)
	if h == nil {
		return // streams have another histogram
	}
	fresh := make([]uint64, len(seen))
	below, anew := uint64(0), false
	for i := range fresh {
		upTo := h.GetSampleCount()
		if i < len(seen)-1 {
			upTo = h.GetBucket()[i].GetCumulativeCount()
		}
		fresh[i] = upTo - below
		below = upTo
		anew = anew || fresh[i] < seen[i]
	}
	for i, n := range fresh {
		if !anew {
			n -= seen[i]
		}
		into[i] += n
	}
	copy(seen, fresh)
}

// rule reads how many calls were denied by a rule, or by what stands in the place of one.
func (r *Reader) rule(s *ruleSeries, now *Reading) {
	seen := r.denied[s]
	if seen == nil {
		seen = new(denialsRead)
		r.denied[s] = seen
	}
	seen.turn = r.turn
	p := s.decisions[decisionDeny].Load()
	if p == nil {
		return
	}
	denied := uint64(valueOf(*p))
	now.Denied += denied - seen.denied
	seen.denied = denied
}

// histogramOf is what a histogram has by now; nil where nothing has been observed.
func histogramOf(cell *observerCell) *dto.Histogram {
	p := cell.Load()
	if p == nil {
		return nil
	}
	metric, ok := (*p).(prometheus.Metric)
	var text dto.Metric
	if !ok || metric.Write(&text) != nil {
		return nil // every histogram of the library is one, and none fails to be written
	}
	return text.GetHistogram()
}

// valueOf is the value of a counter or a gauge.
func valueOf(of prometheus.Metric) float64 {
	var text dto.Metric
	if of.Write(&text) != nil {
		return 0 // neither fails to be written
	}
	return text.GetCounter().GetValue() + text.GetGauge().GetValue()
}
