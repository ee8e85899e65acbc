package metrics

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

// Audit counts audit records: those of the log, and those that sinks have got.
type Audit struct {
	metrics auditMetrics
	asked   sinkGauges
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

// sinkGauges are made up while they are scraped.
type sinkGauges struct {
	list atomic.Pointer[func() []SinkState]

	Records *prometheus.Desc `metric:"audit_sink_lag_records{sink}" help:"Audit records that a sink does not have yet."`
	Oldest  *prometheus.Desc `metric:"audit_sink_lag_seconds{sink}" help:"How old the oldest audit record is that a sink does not have yet."`
	Failing *prometheus.Desc `metric:"audit_sink_failing{sink}" help:"Sinks that take no audit records."`
}

// Describe implements prometheus.Collector.
func (s *sinkGauges) Describe(to chan<- *prometheus.Desc) {
	to <- s.Records
	to <- s.Oldest
	to <- s.Failing
}

// Collect implements prometheus.Collector.
func (s *sinkGauges) Collect(to chan<- prometheus.Metric) {
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

// Watch sets whom the gauges of sinks ask. It names each kind once, and makes the
// counters of those kinds be there from the start.
func (a *Audit) Watch(list func() []SinkState) {
	for _, s := range list() {
		a.Sent(s.Kind, 0, 0)
		a.metrics.SinkFailures.with(s.Kind).Add(0)
	}
	a.asked.list.Store(&list)
}

// Sent counts records that a sink has, and those that it never will.
func (a *Audit) Sent(kind string, stored int, lost uint64) {
	a.metrics.SinkRecords.with(kind).Add(float64(stored))
	a.metrics.SinkLost.with(kind).Add(float64(lost))
}

// SinkFailed counts records that a sink did not take.
func (a *Audit) SinkFailed(kind string) {
	a.metrics.SinkFailures.with(kind).Inc()
}

// Gone counts records that are not there any more.
func (a *Audit) Gone(n int) { a.metrics.Gone.Add(float64(n)) }

// Captured counts what was captured of one call; result is kept or lost, and nothing
// else is counted.
func (a *Audit) Captured(result string) {
	if c, ok := a.metrics.Content[result]; ok {
		c.Inc()
	}
}

// Wrote counts n audit records; result is written, failed or unsynced, and
// nothing else is counted.
func (a *Audit) Wrote(result string, n int) {
	if c, ok := a.metrics.Records[result]; ok {
		c.Add(float64(n))
	}
}
