package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// factory makes registered instruments.
type factory struct{ registry *prometheus.Registry }

func (f factory) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	f.registry.MustRegister(c)
	return c
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	f.registry.MustRegister(c)
	return c
}

// fixed makes a counter by result whose every series is there from the start, as
// alerts on a rise from zero need it.
func (f factory) fixed(name, help string, results ...string) map[string]prometheus.Counter {
	vec := f.counters(name, help, "result")
	cells := make(map[string]prometheus.Counter, len(results))
	for _, r := range results {
		cells[r] = vec.WithLabelValues(r)
	}
	return cells
}

func (f factory) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	f.registry.MustRegister(g)
	return g
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
	f.registry.MustRegister(g)
	return g
}

// bucketScale says which classic buckets a histogram of durations has.
type bucketScale uint8

const (
	callSeconds   bucketScale = iota // a millisecond to two minutes
	streamSeconds                    // a second to eight hours
	storeSeconds                     // ten microseconds, a read on the same machine, to a second
)

func (s bucketScale) buckets() []float64 {
	switch s {
	case streamSeconds:
		return []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 8 * 3600}
	case storeSeconds:
		return []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, .25, 1}
	}
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
}

func (f factory) seconds(name, help string, scale bucketScale, labels ...string) *prometheus.HistogramVec {
	return f.histograms(name, help, scale.buckets(), labels)
}

func (f factory) bytes(name, help string, labels ...string) *prometheus.HistogramVec {
	const smallest, factor, buckets = 256, 4, 9 // 256 B to 16 MiB
	return f.histograms(name, help, prometheus.ExponentialBuckets(smallest, factor, buckets), labels)
}

// histograms makes a native histogram with classic buckets. A factor of 1.1
// keeps every quantile within 5 %; 160 buckets are four orders of magnitude,
// and past them Prometheus lowers the resolution instead of growing.
func (f factory) histograms(name, help string, buckets []float64, labels []string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: prefix + name, Help: help,
		Buckets:                         buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
	}, labels)
	f.registry.MustRegister(h)
	return h
}
