package telemetry

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics is every instrument of the gateway, by what it is about: one field each in a
// struct that stands beside the code that counts. docs/metrics.md is made from what the
// fields declare, and the dashboards and alerts of deploy are held against it. Names have
// the prefix a2a_gateway_, units are base units. Beside these there are the go_ and
// process_ metrics.
//
// Every label takes its values from a closed set, so that no client can make a
// series: "agent" the configured ids, "method" the 1.0 names of wire.Methods and
// the names of the methods that registered extensions bring,
// "binding" JSONRPC, HTTP+JSON or GRPC, "rule" the configured rules and what
// decides where none does, "uri" the registered extensions, "provider" the
// configured issuers, api-keys and unknown. A value from outside its set is counted as "other", an absent one as
// "none". "code" is OK, the reason of a refusal or an agent's error (docs/errors.md),
// or HTTP_4XX and HTTP_5XX for an error status without a reason. The sets are
// replaced by SetLabels when the configuration is.
//
// Histograms are native (bucket factor 1.1) with classic buckets beside them
// for scrapers that do not ask for native ones.
type Metrics struct {
	calls      callMetrics
	streams    streamMetrics
	push       pushMetrics
	load       loadMetrics
	agents     agentMetrics
	identity   identityMetrics
	policy     policyMetrics
	extensions extensionMetrics
	cards      cardMetrics
	store      storeMetrics
	audit      auditMetrics
	anomalies  anomalyMetrics
	gateway    gatewayMetrics

	// What is asked for when somebody looks.
	upstreams  upstreams
	cardGauges cardGauges
	sinks      sinks
	asked      asked

	made       []instrument // all of them, in the order of their making
	operations []string     // values of the label operation
	exemplars  bool
	codes      codeIndex
	sets       atomic.Pointer[labelSet] // the closed sets in force
	setting    sync.Mutex               // held while sets is replaced
}

const prefix = "a2a_gateway_"

// newMetrics makes all instruments and registers them. What is made up when somebody looks is a
// collector of its own, and is registered as one.
func newMetrics(registry *prometheus.Registry, config MetricsConfig, version string) *Metrics {
	m := &Metrics{exemplars: config.Exemplars, codes: newCodeIndex(), operations: operations()}
	m.cardGauges.all = make(map[string]cardCondition)
	f := factory{registry, &m.made}
	for _, topic := range []any{
		&m.calls, &m.streams, &m.push, &m.load, &m.agents, &m.identity, &m.policy, &m.extensions, &m.cards, &m.store,
		&m.audit, &m.anomalies, &m.gateway,
	} {
		f.declare(topic)
	}
	for _, topic := range []prometheus.Collector{&m.upstreams, &m.cardGauges, &m.sinks, &m.asked} {
		f.declare(topic)
		registry.MustRegister(topic)
	}
	m.gateway.BuildInfo.WithLabelValues(version, runtime.Version()).Set(1)
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.SetLabels(Labels{})
	return m
}
