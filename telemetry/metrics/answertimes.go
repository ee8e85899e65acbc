package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// AnswerTimes is how many microseconds each agent has taken to answer, for streams until the head, and how many
// answers these were: the sums of upstream_request_duration_seconds. A histogram that begins anew (it does when it has
// too many buckets) begins at nothing. Agents that have answered nothing are absent.
func (c *Calls) AnswerTimes() (micros, answers map[string]int64) {
	micros, answers = map[string]int64{}, map[string]int64{}
	add := func(s *callSeries) {
		if s == nil {
			return
		}
		p := s.upstreamDuration.Load()
		if p == nil {
			return
		}
		metric, ok := (*p).(prometheus.Metric)
		var text dto.Metric
		if !ok || metric.Write(&text) != nil {
			return // every histogram of the library is one, and none fails to be written
		}
		h := text.GetHistogram()
		micros[s.agent] += int64(h.GetSampleSum() * 1e6)
		answers[s.agent] += int64(h.GetSampleCount()) //nolint:gosec // of calls
	}
	for _, agent := range c.sets.Load().agents {
		for i := range agent.calls {
			add(agent.calls[i].Load())
		}
		for _, cell := range agent.extra {
			add(cell.Load())
		}
	}
	return micros, answers
}
