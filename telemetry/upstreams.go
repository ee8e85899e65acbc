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
}

func (f factory) upstreams() *upstreams {
	u := &upstreams{
		instances: f.asked("upstream_instances", "Instances of an agent that are known.", "agent"),
		healthy:   f.asked("upstream_healthy", "Instances of an agent that would get the next call.", "agent"),
		circuit: f.asked("circuit_state",
			"Circuit of an agent: 0 closed, 1 waiting for a probe, 2 open; with several instances, the best of theirs.", "agent"),
		state: f.asked("agent_state", "Whether calls reach an agent, and why not: 1 for its state.", "agent", "state="+strings.Join(agentStates, "|")),
	}
	f.registry.MustRegister(u)
	return u
}

// Describe implements prometheus.Collector.
func (u *upstreams) Describe(to chan<- *prometheus.Desc) {
	to <- u.instances
	to <- u.healthy
	to <- u.circuit
	to <- u.state
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
