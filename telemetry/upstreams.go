package telemetry

import (
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// UpstreamState is how an agent is doing at the moment.
type UpstreamState struct {
	Agent     string // configured agent id
	Instances int    // that are known
	Healthy   int    // of them, that would get the next call
	Circuit   int    // 0 closed, 1 waiting for a probe, 2 open
	State     string // AgentServing or another below
	Each      []InstanceState
}

// InstanceState is how an instance is doing. An agent has each of an address once, and a
// bounded number of them.
type InstanceState struct {
	Address   string
	Healthy   bool    // it would get the next call
	Latency   float64 // seconds until the head of an answer, smoothed; 0 where none has come yet
	Calls     int     // in flight
	Ejections int     // since it was found
}

// What an agent is, as the log, /readyz?verbose, the admin API and the metrics call it.
const (
	AgentServing     = "serving"      // calls reach it
	AgentPending     = "pending"      // its card is being fetched for the first time
	AgentNoCard      = "no-card"      // it could not be fetched, and none is in force
	AgentNoInterface = "no-interface" // the card names none that can be called
	AgentUnreachable = "unreachable"  // no connection to where calls go comes about
	AgentFailing     = "failing"      // one call after the other fails
	AgentCardWaiting = "card-waiting" // a card waits for somebody's decision
	AgentCardStale   = "card-stale"   // one is in force, and cannot be fetched again
)

var agentStates = []string{
	AgentServing, AgentPending, AgentNoCard, AgentNoInterface, AgentUnreachable, AgentFailing, AgentCardWaiting, AgentCardStale,
}

// upstreams are gauges that are asked for when somebody looks: an instance that was
// left alone for a while is back without anything having happened.
type upstreams struct {
	list                               atomic.Pointer[func() []UpstreamState]
	instances, healthy, circuit, state *prometheus.Desc

	instanceHealthy, instanceLatency, instanceCalls, instanceEjections *prometheus.Desc
}

func (f factory) upstreams() *upstreams {
	u := &upstreams{
		instances: f.asked("upstream_instances", "Instances of an agent that are known.", "agent"),
		healthy:   f.asked("upstream_healthy", "Instances of an agent that would get the next call.", "agent"),
		circuit: f.asked("circuit_state",
			"Circuit of an agent: 0 closed, 1 waiting for a probe, 2 open; with several instances, the best of theirs.", "agent"),
		state: f.asked("agent_state", "Whether calls reach an agent, and why not: 1 for its state.", "agent", "state="+strings.Join(agentStates, "|")),
		instanceHealthy: f.asked("instance_healthy",
			"Whether an instance would get the next call. Of an agent, 32 instances have these series: those that would not first, then those that take longest.", "agent", "address"),
		instanceLatency: f.asked("instance_latency_seconds",
			"Time until an instance answers, smoothed over its latest calls; absent until it has.", "agent", "address"),
		instanceCalls:     f.asked("instance_calls", "Calls in flight to an instance, streams included.", "agent", "address"),
		instanceEjections: f.asked("instance_ejections", "Times that an instance was left alone because it fails calls, since it was found.", "agent", "address"),
	}
	f.registry.MustRegister(u)
	return u
}

// Describe implements prometheus.Collector.
func (u *upstreams) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		u.instances, u.healthy, u.circuit, u.state, u.instanceHealthy, u.instanceLatency, u.instanceCalls, u.instanceEjections,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (u *upstreams) Collect(to chan<- prometheus.Metric) {
	list := u.list.Load()
	if list == nil {
		return
	}
	for _, s := range (*list)() {
		for _, state := range agentStates {
			to <- prometheus.MustNewConstMetric(u.state, prometheus.GaugeValue, truth(state == s.State), s.Agent, state)
		}
		for _, g := range []struct {
			desc  *prometheus.Desc
			value int
		}{{u.instances, s.Instances}, {u.healthy, s.Healthy}, {u.circuit, s.Circuit}} {
			to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(g.value), s.Agent)
		}
		for i := range s.Each {
			u.instance(s.Agent, &s.Each[i], to)
		}
	}
}

func (u *upstreams) instance(agent string, i *InstanceState, to chan<- prometheus.Metric) {
	show := func(desc *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, agent, i.Address)
	}
	show(u.instanceHealthy, truth(i.Healthy))
	show(u.instanceCalls, float64(i.Calls))
	show(u.instanceEjections, float64(i.Ejections))
	if i.Latency > 0 {
		show(u.instanceLatency, i.Latency)
	}
}

// Upstreams sets whom the gauges of agents ask. The agents it names are the configured
// ones, each once.
func (m *Metrics) Upstreams(list func() []UpstreamState) { m.upstreams.list.Store(&list) }

// Retried counts a call that was sent to a further instance of an agent.
func (m *Metrics) Retried(agent string) {
	m.retries.WithLabelValues(member(m.sets.Load().agents, agent)).Inc()
}

// Ejected counts an instance that was left alone because it fails calls.
func (m *Metrics) Ejected(agent string) {
	m.ejections.WithLabelValues(member(m.sets.Load().agents, agent)).Inc()
}
