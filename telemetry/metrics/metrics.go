// Package metrics counts what a gateway does, for Prometheus.
//
// Each topic is a type of its own: its instruments, which the tags of the fields of one
// unexported struct declare (factory.go says how a tag is read), and the methods that count
// them. Whoever counts holds the topic that it counts in, such as *Streams, and not all of
// Metrics, which only makes the topics and registers their instruments.
//
// docs/metrics.md is generated from the declarations, and the dashboards and alerts of deploy
// are compared with them: what they name exists, with the labels that they use. Names begin
// with a2a_gateway_, and units are base units (seconds, bytes). Beside these there are the go_
// and process_ metrics of the client library.
//
// Every label takes its values from a closed set (label.go), so that neither a client nor an
// agent can make a series: "agent" the configured ids, "method" the 1.0 names of wire.Methods
// and those of the methods that registered extensions bring, "binding" JSONRPC, HTTP+JSON or
// GRPC, "rule" the configured rules and what decides where none does, "uri" the registered
// extensions, "provider" the configured issuers, api-keys, mtls and unknown. A value from
// outside its set is counted as "other", an absent one as "none". "code" is OK, the reason of a
// refusal or of an agent's error (docs/errors.md), or HTTP_4XX and HTTP_5XX for an error status
// without a reason. Metrics.SetLabels replaces the sets whenever the configuration is.
//
// Histograms are native (bucket factor 1.1) with classic buckets beside them, for scrapers that
// do not ask for native ones.
//
// The package exports more than twenty names: a type for each of the thirteen topics, so that
// nobody depends on more than one of them, the states that gauges ask for when they are
// scraped (AgentState, SinkState, Condition), and the Reader of what came since it read last.
package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics is the registry of all topics. The topics are values and not pointers, so that a
// count of a call follows no pointer more than it has to; a holder takes the address of one.
type Metrics struct {
	Calls       Calls
	Streams     Streams
	Push        Push
	Load        Load
	Agents      Agents
	Credentials Credentials
	Policy      Policy
	Extensions  Extensions
	Guards      Guards
	Cards       Cards
	Store       Store
	Audit       Audit
	Anomalies   Anomalies
	Gateway     Gateway

	sets *labelSets
	made []instrument // all of them, in the order of their making
}

// prefix begins the name of every metric of the gateway's own.
const prefix = "a2a_gateway_"

// New makes the instruments of all topics and registers them with registry, together with
// those of the Go runtime and of the process. exemplars adds the trace id of sampled calls to
// the histograms of durations; version is the gateway's own, for build_info. Until SetLabels
// is called, the sets that the configuration brings are empty.
func New(registry *prometheus.Registry, exemplars bool, version string) *Metrics {
	sets := new(labelSets)
	m := &Metrics{
		sets:        sets,
		Calls:       Calls{sets: sets, codes: newCodeIndex(), exemplars: exemplars},
		Streams:     Streams{sets: sets},
		Push:        Push{sets: sets},
		Agents:      Agents{sets: sets},
		Credentials: Credentials{sets: sets},
		Policy:      Policy{sets: sets},
		Extensions:  Extensions{sets: sets},
		Guards:      Guards{sets: sets},
		Cards:       Cards{sets: sets, gauges: cardGauges{all: make(map[string]cardCondition)}},
		Store:       Store{operations: operations()},
		Anomalies:   Anomalies{sets: sets},
		Gateway:     Gateway{sets: sets},
	}
	f := factory{registry, &m.made}
	for _, topic := range []any{
		&m.Calls.metrics, &m.Streams.metrics, &m.Push.metrics, &m.Load.metrics, &m.Agents.metrics, &m.Credentials.metrics,
		&m.Policy.metrics, &m.Extensions.metrics, &m.Guards.metrics, &m.Cards.metrics, &m.Store.metrics, &m.Audit.metrics, &m.Anomalies.metrics,
		&m.Gateway.metrics,
	} {
		f.declare(topic)
	}
	// What is made up while it is scraped is a collector of its own, and is registered as one.
	for _, asked := range []prometheus.Collector{&m.Agents.asked, &m.Cards.gauges, &m.Audit.asked, &m.Gateway.asked} {
		f.declare(asked)
		registry.MustRegister(asked)
	}
	m.Gateway.metrics.BuildInfo.WithLabelValues(version, runtime.Version()).Set(1)
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.SetLabels(Labels{})
	return m
}

// SetLabels replaces the closed sets, at start and with every reload. Series of agents,
// methods, rules and extensions that are gone are removed; those that stay keep counting.
// Calls that began under the old sets and end now count as "other" where their value is gone;
// of cards nothing is counted then.
func (m *Metrics) SetLabels(l Labels) {
	m.sets.setting.Lock()
	defer m.sets.setting.Unlock()
	old, next := m.sets.replace(l)
	m.forget(old, next)
}

// Method is the name under which a method is counted, which is one of a closed set: spans are
// named by it too, since names of spans should be few as well.
func (m *Metrics) Method(name string) string { return m.sets.Load().method(name) }

// forget removes the series of what is no longer in the sets. Without it a
// fleet whose agents come and go would grow /metrics for ever.
func (m *Metrics) forget(old, next *labelSet) {
	left := map[string][]string{
		"agent": gone(old.agents, next.agents), "method": gone(old.methods, next.methods),
		"rule": gone(old.rules, next.rules), "uri": gone(old.uris, next.uris), "provider": gone(old.providers, next.providers),
		"limit": gone(old.limits, next.limits), "authorizer": gone(old.authorizers, next.authorizers),
		"guard": gone(old.guards, next.guards), "domain": gone(old.domains, next.domains),
	}
	for i := range m.made {
		if m.made[i].series != nil {
			m.made[i].forget(left)
		}
	}
	for _, id := range left["agent"] {
		m.Cards.gauges.forget(id)
	}
}
