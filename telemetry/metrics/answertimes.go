package metrics

// AnswerTimes is how many microseconds each agent has taken to answer, for streams until the head, and how many
// answers these were: the sums of upstream_request_duration_seconds. A histogram that begins anew (it does when it has
// too many buckets) begins at nothing. Agents that have answered nothing are absent.
func (c *Calls) AnswerTimes() (micros, answers map[string]int64) {
	micros, answers = map[string]int64{}, map[string]int64{}
	for s := range c.sets.Load().series() {
		if h := histogramOf(&s.upstreamDuration); h != nil {
			micros[s.agent] += int64(h.GetSampleSum() * 1e6)
			answers[s.agent] += int64(h.GetSampleCount()) //nolint:gosec // of calls
		}
	}
	return micros, answers
}
