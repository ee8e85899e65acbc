package gateway

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// agentStates says how the agents of the configuration in force are doing.
type agentStates struct {
	current   *snapshot.Current
	telemetry *telemetry.Telemetry
}

// upstreams is the answer for metrics. It is called for each scrape, and makes the list
// anew: an instance becomes healthy again by the passing of time, without any event by
// which a stored list could be changed.
func (a *agentStates) upstreams() []metrics.AgentState {
	s := a.current.Load()
	if s == nil {
		return nil
	}
	list := make([]metrics.AgentState, 0, len(s.Agents))
	for id, m := range s.Agents {
		up := m.Agent.Upstream.State()
		state := metrics.AgentState{Agent: id, Instances: up.Instances, Healthy: up.Healthy, Circuit: up.Circuit, State: m.Standing().Word}
		for _, i := range m.Agent.Upstream.Instances() {
			state.Each = append(state.Each, metrics.InstanceState{
				Address: i.Address, Healthy: i.Why == "", Latency: i.Latency.Seconds(), Calls: i.Calls, Ejections: i.Ejections,
			})
		}
		list = append(list, state)
	}
	return list
}

// standingEvery is how often the log is told of agents that calls reach no more, or again.
const standingEvery = time.Second

// watch logs when it begins that an agent is not serving, when it is so for another
// reason, and when it ends.
func (a *agentStates) watch(closed <-chan struct{}) {
	// A spell is a time for which an agent has not been serving, for one reason. Agents
	// that serve have none.
	type spell struct {
		word    string
		reached bool // by calls, as the card in force is used on
		since   time.Time
	}
	known := map[string]spell{}
	tick := time.NewTicker(standingEvery)
	defer tick.Stop()
	for {
		select {
		case <-closed:
			return
		case <-tick.C:
		}
		s := a.current.Acquire()
		if s == nil {
			continue
		}
		// An agent that is gone and registered again begins without a history.
		for id := range known {
			if s.Agents[id] == nil {
				delete(known, id)
			}
		}
		for id, m := range s.Agents {
			now, before := m.Standing(), known[id]
			switch {
			// An agent whose card is fetched for the first time is not told of: every start
			// would begin with a warning for each agent.
			case now.Pending() || now.Word == before.word:
			case !now.Serving():
				known[id] = spell{now.Word, now.Reached(), time.Now()}
				text := "agent not serving"
				if now.Reached() {
					text = "agent serving by an earlier card"
				}
				a.telemetry.Log.Warn(text, "agent", id, "state", now.Word, "why", now.Why)
			// Serving again after a spell; one that has always served has nothing to tell.
			case before.word != "":
				delete(known, id)
				text := "agent serving again"
				if before.reached {
					text = "agent serving by its present card again"
				}
				a.telemetry.Log.Info(text, "agent", id, "was", before.word, "for", time.Since(before.since).Round(time.Second).String())
			}
		}
		s.Release()
	}
}
