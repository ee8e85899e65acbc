package metrics

import (
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// factory makes registered instruments of what the fields of a struct declare, and
// remembers what they are. A metric is declared in one place, by the tags of its field:
//
//	metric   its name without the prefix and, in braces, its labels
//	help     what /metrics and docs/metrics.md say of it
//	buckets  of a histogram: calls, streams, store or bytes
//
// A label is given by its name, where its values are those of closedSet, or as
// name=value|value, or as name=$list for a list of valueList. The field's type says which
// kind of instrument it is.
type factory struct {
	registry *prometheus.Registry
	made     *[]instrument
}

// instrument is what is to be known of a metric to read it, and to forget its series.
type instrument struct {
	name, kind, help string
	labels           []label
	series           forgettable // nil where it has no labels, or is made up when it is asked for
}

// forgettable are the series of an instrument with labels.
type forgettable interface {
	DeletePartialMatch(labels prometheus.Labels) int
}

// declare makes the instruments that a struct declares. Those of *prometheus.Desc are made
// up when somebody looks, by the struct as their collector, which its owner registers. The
// fields have exported names, in structs that nobody outside sees, since reflection sets no
// others. A field of a type that make does not know stays empty, which
// TestMetricsAreDocumented finds.
func (f factory) declare(topic any) {
	v := reflect.ValueOf(topic).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		declared, ok := tag.Lookup("metric")
		if !ok {
			continue
		}
		name, labels, _ := strings.Cut(strings.TrimSuffix(declared, "}"), "{")
		d := instrument{name: prefix + name, help: tag.Get("help")}
		if labels != "" {
			d.labels = parseLabels(strings.Split(labels, ","))
		}
		f.make(v.Field(i).Addr().Interface(), &d, tag.Get("buckets"))
		*f.made = append(*f.made, d)
	}
}

// make makes one instrument where a field points to, and completes what is known of it. It
// registers it as well: a name that is declared twice ends the program when it starts, and
// with it every test.
func (f factory) make(field any, d *instrument, buckets string) {
	switch field := field.(type) {
	case *prometheus.Counter:
		d.kind = kindCounter
		*field = prometheus.NewCounter(prometheus.CounterOpts{Name: d.name, Help: d.help})
		f.registry.MustRegister(*field)
	case *counterVec:
		*field = f.counters(d)
	case *map[string]prometheus.Counter:
		*field = f.fixed(d)
	case *prometheus.Gauge:
		d.kind = kindGauge
		*field = prometheus.NewGauge(prometheus.GaugeOpts{Name: d.name, Help: d.help})
		f.registry.MustRegister(*field)
	case *gaugeVec:
		d.kind = kindGauge
		field.GaugeVec = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.name, Help: d.help}, d.labelNames())
		field.labels, d.series = d.labels, field
		f.registry.MustRegister(field.GaugeVec)
	case **prometheus.HistogramVec:
		d.kind = "histogram"
		*field = histograms(d, bucketsOf(buckets))
		d.series = *field
		f.registry.MustRegister(*field)
	case **prometheus.Desc:
		d.kind = kindGauge
		*field = prometheus.NewDesc(d.name, d.help, d.labelNames(), nil)
	}
}

// Kinds of instruments that more than one type of field has.
const (
	kindCounter = "counter"
	kindGauge   = "gauge"
)

// labelNames are the names alone, as the client library takes them.
func (d *instrument) labelNames() []string {
	names := make([]string, len(d.labels))
	for i := range d.labels {
		names[i] = d.labels[i].name
	}
	return names
}

// counters makes a counter with labels. Its series come to be when they are counted.
func (f factory) counters(d *instrument) counterVec {
	d.kind = kindCounter
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.name, Help: d.help}, d.labelNames())
	d.series = vec
	f.registry.MustRegister(vec)
	return counterVec{vec, d.labels}
}

// fixed makes a counter of one label whose every series is there from the start, as alerts
// on a rise from zero need it.
func (f factory) fixed(d *instrument) map[string]prometheus.Counter {
	vec := f.counters(d)
	cells := make(map[string]prometheus.Counter, len(d.labels[0].values))
	for _, value := range d.labels[0].values {
		cells[value] = vec.WithLabelValues(value)
	}
	return cells
}

// counterVec is a counter with labels.
type counterVec struct {
	*prometheus.CounterVec

	labels []label
}

// with finds the counter of values, in the order of its labels. A value that its label's
// closed set does not have is counted as other; what the configuration brings is bounded by
// whoever counts.
func (v counterVec) with(values ...string) prometheus.Counter {
	return v.WithLabelValues(bound(v.labels, values)...)
}

// gaugeVec is a gauge with labels.
type gaugeVec struct {
	*prometheus.GaugeVec

	labels []label
}

// with finds the gauge of values, as counterVec.with finds a counter.
func (v gaugeVec) with(values ...string) prometheus.Gauge {
	return v.WithLabelValues(bound(v.labels, values)...)
}

// bound puts other in the place of values that are in no closed set. The slice is the
// caller's own.
func bound(labels []label, values []string) []string {
	for i := range values {
		if labels[i].from == "" {
			values[i] = oneOf(values[i], labels[i].values...)
		}
	}
	return values
}

// bucketsOf are classic buckets by what they are for.
func bucketsOf(scale string) []float64 {
	switch scale {
	case "streams": // a second to eight hours
		return []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 8 * 3600}
	case "store": // ten microseconds, a read on the same machine, to a second
		return []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, .25, 1}
	case "bytes": // 256 B to 16 MiB
		const smallest, factor, buckets = 256, 4, 9
		return prometheus.ExponentialBuckets(smallest, factor, buckets)
	}
	// Calls: a millisecond to two minutes.
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
}

// histograms makes a native histogram with classic buckets. A factor of 1.1
// keeps every quantile within 5 %; 160 buckets are four orders of magnitude,
// and past them Prometheus lowers the resolution instead of growing.
func histograms(d *instrument, buckets []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: d.name, Help: d.help,
		Buckets:                         buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
	}, d.labelNames())
}

// forget removes the series of an instrument of which a label has a value that is left.
func (d *instrument) forget(left map[string][]string) {
	for _, l := range d.labels {
		if l.from == "" {
			continue // its values are the same for good
		}
		for _, value := range left[l.name] {
			d.series.DeletePartialMatch(prometheus.Labels{l.name: value})
		}
	}
}

// truth is the value of a gauge that says whether something is so.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// okOrError is the value of the label result of what either works or does not.
func okOrError(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// oneOf bounds a value by a set.
func oneOf(value string, set ...string) string {
	for _, s := range set {
		if s == value {
			return value
		}
	}
	return labelOther
}
