package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// AgentState is how an agent is doing at the moment.
type AgentState struct {
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

// Agents counts what happens on the ways to agents, and shows how they are doing.
type Agents struct {
	sets    *labelSets
	metrics agentMetrics
	asked   agentGauges
}

// agentMetrics are about agents and the ways to them.
type agentMetrics struct {
	Retries   counterVec `metric:"retries_total{agent}" help:"Calls sent to a further instance."`
	Ejections counterVec `metric:"ejections_total{agent}" help:"Instances left alone because they fail calls."`
	// LeftOut are those of which what was registered or found contradicts the configuration.
	LeftOut prometheus.Gauge `metric:"agents_left_out" help:"Agents that should be served and are not, as /readyz?verbose says."`
	Quirks  counterVec       `metric:"quirks_total{agent,quirk=$quirks}" help:"Calls for which a tolerance of agents[].quirks was used."`
}

// agentGauges are made up while they are scraped: an instance that was left alone for a while
// is back without anything having happened.
type agentGauges struct {
	list atomic.Pointer[func() []AgentState]

	Instances *prometheus.Desc `metric:"upstream_instances{agent}" help:"Instances of an agent that are known."` // 1 where none are configured
	Healthy   *prometheus.Desc `metric:"upstream_healthy{agent}" help:"Instances of an agent that would get the next call."`
	Circuit   *prometheus.Desc `metric:"circuit_state{agent}" help:"Circuit of an agent: 0 closed, 1 waiting for a probe, 2 open; with several instances, the best of theirs."`
	State     *prometheus.Desc `metric:"agent_state{agent,state=$agentStates}" help:"Whether calls reach an agent, and why not: 1 for its state."`

	InstanceHealthy   *prometheus.Desc `metric:"instance_healthy{agent,address}" help:"Whether an instance would get the next call. Of an agent, 32 instances have these series: those that would not first, then those that take longest."`
	InstanceLatency   *prometheus.Desc `metric:"instance_latency_seconds{agent,address}" help:"Time until an instance answers, smoothed over its latest calls; absent until it has."`
	InstanceCalls     *prometheus.Desc `metric:"instance_calls{agent,address}" help:"Calls in flight to an instance, streams included."`
	InstanceEjections *prometheus.Desc `metric:"instance_ejections{agent,address}" help:"Times that an instance was left alone because it fails calls, since it was found."`
}

// Describe implements prometheus.Collector.
func (u *agentGauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		u.Instances, u.Healthy, u.Circuit, u.State, u.InstanceHealthy, u.InstanceLatency, u.InstanceCalls, u.InstanceEjections,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (u *agentGauges) Collect(to chan<- prometheus.Metric) {
	list := u.list.Load()
	if list == nil {
		return
	}
	for _, s := range (*list)() {
		for _, state := range agentStates {
			to <- prometheus.MustNewConstMetric(u.State, prometheus.GaugeValue, truth(state == s.State), s.Agent, state)
		}
		for _, g := range []struct {
			desc  *prometheus.Desc
			value int
		}{{u.Instances, s.Instances}, {u.Healthy, s.Healthy}, {u.Circuit, s.Circuit}} {
			to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(g.value), s.Agent)
		}
		for i := range s.Each {
			u.instance(s.Agent, &s.Each[i], to)
		}
	}
}

// instance shows one instance. The latency of one that has not answered yet is not 0 but absent.
func (u *agentGauges) instance(agent string, i *InstanceState, to chan<- prometheus.Metric) {
	show := func(desc *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, agent, i.Address)
	}
	show(u.InstanceHealthy, truth(i.Healthy))
	show(u.InstanceCalls, float64(i.Calls))
	show(u.InstanceEjections, float64(i.Ejections))
	if i.Latency > 0 {
		show(u.InstanceLatency, i.Latency)
	}
}

// Watch sets whom the gauges of agents ask. The agents it names are the configured
// ones, each once.
func (a *Agents) Watch(list func() []AgentState) { a.asked.list.Store(&list) }

// Retried counts a call that was sent to a further instance of an agent.
func (a *Agents) Retried(agent string) {
	a.metrics.Retries.WithLabelValues(a.sets.agent(agent)).Inc()
}

// Ejected counts an instance that was left alone because it fails calls.
func (a *Agents) Ejected(agent string) {
	a.metrics.Ejections.WithLabelValues(a.sets.agent(agent)).Inc()
}

// LeftOut says how many agents should be served and are not.
func (a *Agents) LeftOut(n int) { a.metrics.LeftOut.Set(float64(n)) }

// Quirk counts a call for which a tolerance of agents[].quirks was used.
func (a *Agents) Quirk(agent, quirk string) { a.metrics.Quirks.with(a.sets.agent(agent), quirk).Inc() }

// quirkNames are those of package proxy; docs/quirks.md says what they are.
var quirkNames = [...]string{"zoneless-times", "mixed-objects", "method-paths"}
