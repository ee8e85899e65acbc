package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Count is a series of a counter, by what its labels say.
type Count struct {
	Labels map[string]string
	Value  int64
}

// Requests are the series of requests_total.
func (m *Metrics) Requests() []Count { return countsOf(m.calls.Requests.CounterVec) }

// RuleDecisions are the series of authz_decisions_total.
func (m *Metrics) RuleDecisions() []Count { return countsOf(m.policy.Authz.CounterVec) }

// Negotiations are the series of extensions_negotiated_total.
func (m *Metrics) Negotiations() []Count { return countsOf(m.extensions.Negotiated.CounterVec) }

// Violations are the series of extension_violations_total.
func (m *Metrics) Violations() []Count { return countsOf(m.extensions.Violations.CounterVec) }

// countsOf reads one counter, without the rest of the registry, which may be large.
func countsOf(v *prometheus.CounterVec) []Count {
	series := make(chan prometheus.Metric)
	go func() {
		defer close(series)
		v.Collect(series)
	}()
	var list []Count
	for one := range series {
		var text dto.Metric
		if err := one.Write(&text); err != nil {
			continue // no counter fails to be written
		}
		c := Count{Labels: map[string]string{}, Value: int64(text.GetCounter().GetValue())}
		for _, l := range text.GetLabel() {
			c.Labels[l.GetName()] = l.GetValue()
		}
		list = append(list, c)
	}
	return list
}
