package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// sinkKinds are the kinds of telemetry.audit.sinks.
func sinkKinds() []string { return []string{"postgres", "kafka", "otlp", labelOther} }

// SinkState is how the sinks of one kind are doing at the moment.
type SinkState struct {
	Kind    string        // a key of telemetry.audit.sinks
	Records uint64        // audit records that they do not have yet
	Oldest  time.Duration // how old the oldest of them is
	Failing int           // sinks that take none
}

// sinks are gauges that are asked for when somebody looks.
type sinks struct {
	list                     atomic.Pointer[func() []SinkState]
	records, oldest, failing *prometheus.Desc
}

func (f factory) sinks(m *Metrics) {
	m.sinkRecords = f.counters("audit_sink_records_total", "Audit records that sinks have.", "sink")
	m.sinkFailures = f.counters("audit_sink_failures_total",
		"Times that a sink did not take audit records, or that they could not be read.", "sink")
	m.sinkLost = f.counters("audit_sink_lost_records_total", "Audit records that a sink will never have: removed before it had them, or given up, as it rejects them.", "sink")
	m.sinks = &sinks{
		records: f.asked("audit_sink_lag_records", "Audit records that a sink does not have yet.", "sink"),
		oldest:  f.asked("audit_sink_lag_seconds", "How old the oldest audit record is that a sink does not have yet.", "sink"),
		failing: f.asked("audit_sink_failing", "Sinks that take no audit records.", "sink"),
	}
	f.registry.MustRegister(m.sinks)
}

// Describe implements prometheus.Collector.
func (s *sinks) Describe(to chan<- *prometheus.Desc) {
	to <- s.records
	to <- s.oldest
	to <- s.failing
}

// Collect implements prometheus.Collector.
func (s *sinks) Collect(to chan<- prometheus.Metric) {
	list := s.list.Load()
	if list == nil {
		return
	}
	for _, at := range (*list)() {
		kind := oneOf(at.Kind, sinkKinds()...)
		to <- prometheus.MustNewConstMetric(s.records, prometheus.GaugeValue, float64(at.Records), kind)
		to <- prometheus.MustNewConstMetric(s.oldest, prometheus.GaugeValue, at.Oldest.Seconds(), kind)
		to <- prometheus.MustNewConstMetric(s.failing, prometheus.GaugeValue, float64(at.Failing), kind)
	}
}

// AuditSinks sets whom the gauges of sinks ask. It names each kind once, and makes the
// counters of those kinds be there from the start.
func (m *Metrics) AuditSinks(list func() []SinkState) {
	for _, s := range list() {
		m.AuditSink(s.Kind, 0, 0)
		m.sinkFailures.WithLabelValues(oneOf(s.Kind, sinkKinds()...)).Add(0)
	}
	m.sinks.list.Store(&list)
}

// AuditSink counts records that a sink has, and those that it never will.
func (m *Metrics) AuditSink(kind string, stored int, lost uint64) {
	kind = oneOf(kind, sinkKinds()...)
	m.sinkRecords.WithLabelValues(kind).Add(float64(stored))
	m.sinkLost.WithLabelValues(kind).Add(float64(lost))
}

// AuditSinkFailed counts records that a sink did not take.
func (m *Metrics) AuditSinkFailed(kind string) {
	m.sinkFailures.WithLabelValues(oneOf(kind, sinkKinds()...)).Inc()
}
