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

// auditMetrics are about the audit log and the sinks that its records are sent to.
type auditMetrics struct {
	// Records are unsynced that were acknowledged and whose later fsync failed.
	Records map[string]prometheus.Counter `metric:"audit_records_total{result=written|failed|unsynced}" help:"Audit records."`
	// Content is lost where it could not be written.
	Content map[string]prometheus.Counter `metric:"audit_content_total{result=kept|lost}" help:"Calls of which content was captured."`
	Gone    prometheus.Counter            `metric:"audit_records_gone_total" help:"Audit records that were not there any more when the gateway started."`

	SinkRecords  counterVec `metric:"audit_sink_records_total{sink}" help:"Audit records that sinks have."`
	SinkFailures counterVec `metric:"audit_sink_failures_total{sink}" help:"Times that a sink did not take audit records, or that they could not be read."`
	SinkLost     counterVec `metric:"audit_sink_lost_records_total{sink}" help:"Audit records that a sink will never have: removed before it had them, or given up, as it rejects them."`
}

// sinks are gauges that are asked for when somebody looks.
type sinks struct {
	list atomic.Pointer[func() []SinkState]

	Records *prometheus.Desc `metric:"audit_sink_lag_records{sink}" help:"Audit records that a sink does not have yet."`
	Oldest  *prometheus.Desc `metric:"audit_sink_lag_seconds{sink}" help:"How old the oldest audit record is that a sink does not have yet."`
	Failing *prometheus.Desc `metric:"audit_sink_failing{sink}" help:"Sinks that take no audit records."`
}

// Describe implements prometheus.Collector.
func (s *sinks) Describe(to chan<- *prometheus.Desc) {
	to <- s.Records
	to <- s.Oldest
	to <- s.Failing
}

// Collect implements prometheus.Collector.
func (s *sinks) Collect(to chan<- prometheus.Metric) {
	list := s.list.Load()
	if list == nil {
		return
	}
	for _, at := range (*list)() {
		kind := oneOf(at.Kind, sinkKinds()...)
		to <- prometheus.MustNewConstMetric(s.Records, prometheus.GaugeValue, float64(at.Records), kind)
		to <- prometheus.MustNewConstMetric(s.Oldest, prometheus.GaugeValue, at.Oldest.Seconds(), kind)
		to <- prometheus.MustNewConstMetric(s.Failing, prometheus.GaugeValue, float64(at.Failing), kind)
	}
}

// AuditSinks sets whom the gauges of sinks ask. It names each kind once, and makes the
// counters of those kinds be there from the start.
func (m *Metrics) AuditSinks(list func() []SinkState) {
	for _, s := range list() {
		m.AuditSink(s.Kind, 0, 0)
		m.audit.SinkFailures.with(s.Kind).Add(0)
	}
	m.sinks.list.Store(&list)
}

// AuditSink counts records that a sink has, and those that it never will.
func (m *Metrics) AuditSink(kind string, stored int, lost uint64) {
	m.audit.SinkRecords.with(kind).Add(float64(stored))
	m.audit.SinkLost.with(kind).Add(float64(lost))
}

// AuditSinkFailed counts records that a sink did not take.
func (m *Metrics) AuditSinkFailed(kind string) {
	m.audit.SinkFailures.with(kind).Inc()
}

// AuditGone counts records that are not there any more.
func (m *Metrics) AuditGone(n int) { m.audit.Gone.Add(float64(n)) }

// AuditContent counts what was captured of one call; result is kept or lost, and nothing
// else is counted.
func (m *Metrics) AuditContent(result string) {
	if c, ok := m.audit.Content[result]; ok {
		c.Inc()
	}
}

// Audit counts n audit records; result is written, failed or unsynced, and
// nothing else is counted.
func (m *Metrics) Audit(result string, n int) {
	if c, ok := m.audit.Records[result]; ok {
		c.Add(float64(n))
	}
}
