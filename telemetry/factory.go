package telemetry

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// factory makes registered instruments and remembers what they are. A label is given
// by its name, where its values are those of closedSet, or as name=value|value.
type factory struct {
	registry *prometheus.Registry
	made     *[]instrument
}

// instrument is what is to be known of a metric to read it.
type instrument struct {
	name, kind, help string
	labels           []label
}

// note remembers an instrument and gives the names of its labels.
func (f factory) note(name, kind, help string, specs ...string) []string {
	labels := parseLabels(specs)
	*f.made = append(*f.made, instrument{prefix + name, kind, help, labels})
	names := make([]string, len(labels))
	for i := range labels {
		names[i] = labels[i].name
	}
	return names
}

func (f factory) counter(name, help string) prometheus.Counter {
	f.note(name, "counter", help)
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	f.registry.MustRegister(c)
	return c
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	names := f.note(name, "counter", help, labels...)
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, names)
	f.registry.MustRegister(c)
	return c
}

// fixed makes a counter by result whose every series is there from the start, as
// alerts on a rise from zero need it.
func (f factory) fixed(name, help string, results ...string) map[string]prometheus.Counter {
	vec := f.counters(name, help, "result="+strings.Join(results, "|"))
	cells := make(map[string]prometheus.Counter, len(results))
	for _, r := range results {
		cells[r] = vec.WithLabelValues(r)
	}
	return cells
}

func (f factory) gauge(name, help string) prometheus.Gauge {
	f.note(name, "gauge", help)
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	f.registry.MustRegister(g)
	return g
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	names := f.note(name, "gauge", help, labels...)
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, names)
	f.registry.MustRegister(g)
	return g
}

// asked describes a gauge that is asked for when somebody looks.
func (f factory) asked(name, help string, labels ...string) *prometheus.Desc {
	names := f.note(name, "gauge", help, labels...)
	return prometheus.NewDesc(prefix+name, help, names, nil)
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
	names := f.note(name, "histogram", help, labels...)
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: prefix + name, Help: help,
		Buckets:                         buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
	}, names)
	f.registry.MustRegister(h)
	return h
}
