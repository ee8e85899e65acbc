package telemetry

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// gatewayMetrics are about the gateway itself: which build it is, which configuration is in
// force, and what it could not do.
type gatewayMetrics struct {
	BuildInfo gaugeVec `metric:"build_info{version,go_version}" help:"Version of the gateway, always 1."`

	ConfigSuccessful prometheus.Gauge `metric:"config_last_reload_successful" help:"Whether the last load of the configuration took effect."`
	ConfigTimestamp  prometheus.Gauge `metric:"config_last_reload_success_timestamp_seconds" help:"When a configuration last took effect, in Unix time."`
	ConfigReloads    counterVec       `metric:"config_reloads_total{result=ok|error}" help:"Loads of the configuration."`
	// ConfigHash is a number: replicas that show different ones differ.
	ConfigHash prometheus.Gauge `metric:"config_hash" help:"First 48 bits of a SHA-256 of what replicas have in common of the configuration in force."`

	Orders       counterVec         `metric:"acme_orders_total{domain,result=issued|failed}" help:"Orders for certificates that this gateway has made."`
	ExportErrors prometheus.Counter `metric:"telemetry_export_errors_total" help:"Times that spans or metrics could not be sent."`
	LogDropped   prometheus.Counter `metric:"log_lines_dropped_total" help:"Access-log lines dropped before a slow reader."`
}

// taskStateLabels are the values of the state label, the names of A2A 1.0; taskStates are
// their places in it without the last.
var (
	taskStateLabels = []string{
		"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED",
		"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED", labelOther,
	}
	taskStates = places(taskStateLabels[:len(taskStateLabels)-1])
)

// places finds names by what they are, without a search through the list.
func places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

// Condition is how the gateway is doing at the moment.
type Condition struct {
	Limits      []Use         // of server.limits
	Unsynced    int           // audit records that are not on the disk yet
	Lag         time.Duration // how long the oldest of them waits
	Failing     bool          // audit records cannot be written
	Stateless   bool          // the state is known not to take records
	Certificate time.Time     // when the first of those served ends; zero without TLS
	Domains     []Domain      // of server.tls.acme
}

// Domain is a name that certificates are ordered for.
type Domain struct {
	Name    string
	End     time.Time // of the certificate; zero without one
	Failing bool      // the last attempt
}

// Use is how much there is of something, and how much there may be. Limit is requests,
// streams, connections or descriptors.
type Use struct {
	Limit     string
	Used, Max int
}

// asked are gauges that are asked for when somebody looks.
type asked struct {
	ask atomic.Pointer[func() Condition]

	Max       *prometheus.Desc `metric:"limit_max{limit=requests|streams|connections|descriptors}" help:"What server.limits permits."`
	Used      *prometheus.Desc `metric:"limit_used{limit=requests|streams|connections|descriptors}" help:"What is in use of server.limits."`
	Unsynced  *prometheus.Desc `metric:"audit_unsynced_records" help:"Audit records that are not on the disk yet."`
	Lag       *prometheus.Desc `metric:"audit_lag_seconds" help:"How long the oldest audit record waits that is not on the disk yet."` // 0 for none
	Failing   *prometheus.Desc `metric:"audit_failing" help:"Whether audit records cannot be written."`
	Stateless *prometheus.Desc `metric:"state_unavailable" help:"Whether the state is known not to take records: it cannot be reached, its file is lost, or it refuses writes."`
	Expiry    *prometheus.Desc `metric:"tls_certificate_expiry_timestamp_seconds" help:"When the first of the certificates that are served ends, in Unix time; absent without TLS."`

	Obtained   *prometheus.Desc `metric:"acme_certificate_expiry_timestamp_seconds{domain}" help:"When the certificate of a name of server.tls.acme ends, in Unix time; absent until there is one."`
	Unobtained *prometheus.Desc `metric:"acme_failing{domain}" help:"Whether the last attempt to get or renew a certificate has failed."`
}

// Describe implements prometheus.Collector.
func (a *asked) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{a.Max, a.Used, a.Unsynced, a.Lag, a.Failing, a.Expiry, a.Obtained, a.Unobtained, a.Stateless} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (a *asked) Collect(to chan<- prometheus.Metric) {
	ask := a.ask.Load()
	if ask == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	now := (*ask)()
	for _, l := range now.Limits {
		gauge(a.Max, float64(l.Max), l.Limit)
		gauge(a.Used, float64(l.Used), l.Limit)
	}
	gauge(a.Unsynced, float64(now.Unsynced))
	gauge(a.Lag, now.Lag.Seconds())
	gauge(a.Failing, truth(now.Failing))
	gauge(a.Stateless, truth(now.Stateless))
	if !now.Certificate.IsZero() {
		gauge(a.Expiry, float64(now.Certificate.Unix()))
	}
	for _, d := range now.Domains {
		gauge(a.Unobtained, truth(d.Failing), d.Name)
		if !d.End.IsZero() {
			gauge(a.Obtained, float64(d.End.Unix()), d.Name)
		}
	}
}

// Reloaded records that a configuration took effect, or why not. sum is the
// SHA-256 of the configuration; it is not looked at when err is set.
func (m *Metrics) Reloaded(sum [32]byte, err error) {
	m.gateway.ConfigReloads.WithLabelValues(okOrError(err)).Inc()
	if err != nil {
		m.gateway.ConfigSuccessful.Set(0)
		return
	}
	m.gateway.ConfigSuccessful.Set(1)
	m.gateway.ConfigTimestamp.SetToCurrentTime()
	// 48 bits: a float64 holds them exactly.
	m.gateway.ConfigHash.Set(float64(binary.BigEndian.Uint64(sum[:8]) >> 16))
}

// Ordered counts an order for a certificate.
func (m *Metrics) Ordered(domain string, err error) {
	result := "issued"
	if err != nil {
		result = "failed"
	}
	m.gateway.Orders.WithLabelValues(member(m.sets.Load().domains, domain), result).Inc()
}

// Condition sets whom the gauges of the gateway's own condition ask. Each limit it names
// is there once.
func (m *Metrics) Condition(ask func() Condition) { m.asked.ask.Store(&ask) }

// TaskState counts a state that a call has shown a task to come to.
func (m *Metrics) TaskState(agent, state string) {
	i, ok := taskStates[state]
	if !ok {
		i = len(taskStates)
	}
	a := bounded(m.sets.Load().agents, agent)
	cell := &a.states[i]
	p := cell.Load()
	if p == nil {
		counter := m.calls.TaskStates.WithLabelValues(a.id, taskStateLabels[i])
		p = &counter
		cell.Store(p)
	}
	(*p).Inc()
}

// countCondition counts what is rarely in a call.
func (m *Metrics) countCondition(agent string, e *Exchange) {
	if e.Denied != "" {
		m.calls.Ownership.with(agent, e.Denied).Inc()
	}
	if e.Deduplicated {
		m.calls.Repeated.WithLabelValues(agent, repetition(e)).Inc()
	}
}

// repetition is what became of a message that had been sent before.
func repetition(e *Exchange) string {
	switch e.Reason {
	case "":
		return "answered"
	case wire.Unavailable.Reason:
		return "pending"
	}
	return "conflict"
}
