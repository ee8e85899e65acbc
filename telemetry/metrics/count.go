package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Count is a series of a counter, by what its labels say.
type Count struct {
	Labels map[string]string
	Value  int64
}

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
