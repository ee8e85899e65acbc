package metrics

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Gateway counts what concerns the process as a whole: configurations, certificates, its own log.
type Gateway struct {
	sets    *labelSets
	metrics gatewayMetrics
	asked   conditionGauges
}

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

// conditionGauges are made up while they are scraped.
type conditionGauges struct {
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
func (a *conditionGauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{a.Max, a.Used, a.Unsynced, a.Lag, a.Failing, a.Expiry, a.Obtained, a.Unobtained, a.Stateless} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (a *conditionGauges) Collect(to chan<- prometheus.Metric) {
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
func (g *Gateway) Reloaded(sum [32]byte, err error) {
	g.metrics.ConfigReloads.WithLabelValues(okOrError(err)).Inc()
	if err != nil {
		g.metrics.ConfigSuccessful.Set(0)
		return
	}
	g.metrics.ConfigSuccessful.Set(1)
	g.metrics.ConfigTimestamp.SetToCurrentTime()
	// 48 bits: a float64 holds them exactly.
	g.metrics.ConfigHash.Set(float64(binary.BigEndian.Uint64(sum[:8]) >> 16))
}

// Ordered counts an order for a certificate.
func (g *Gateway) Ordered(domain string, err error) {
	result := "issued"
	if err != nil {
		result = "failed"
	}
	g.metrics.Orders.WithLabelValues(member(g.sets.Load().domains, domain), result).Inc()
}

// Watch sets whom the gauges of the gateway's own condition ask. Each limit it names
// is there once.
func (g *Gateway) Watch(ask func() Condition) { g.asked.ask.Store(&ask) }

// LogDropped counts an access-log line that was dropped before a slow reader.
func (g *Gateway) LogDropped() { g.metrics.LogDropped.Inc() }

// ExportFailed counts spans or metrics that a collector did not take.
func (g *Gateway) ExportFailed() { g.metrics.ExportErrors.Inc() }
