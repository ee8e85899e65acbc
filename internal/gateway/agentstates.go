package gateway

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// agentStates says how the agents of the configuration in force are doing.
type agentStates struct {
	current   *snapshot.Current
	telemetry *telemetry.Telemetry
}

// upstreams is the answer for metrics.
func (a *agentStates) upstreams() []telemetry.UpstreamState {
	s := a.current.Load()
	if s == nil {
		return nil
	}
	list := make([]telemetry.UpstreamState, 0, len(s.Agents))
	for id, m := range s.Agents {
		up := m.Agent.Upstream.State()
		state := telemetry.UpstreamState{Agent: id, Instances: up.Instances, Healthy: up.Healthy, Circuit: up.Circuit, State: m.Standing().Word}
		for _, i := range m.Agent.Upstream.Instances() {
			state.Each = append(state.Each, telemetry.InstanceState{
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
	type spell struct {
		word  string
		since time.Time
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
		for id := range known {
			if s.Agents[id] == nil {
				delete(known, id)
			}
		}
		for id, m := range s.Agents {
			now, before := m.Standing(), known[id]
			switch {
			case now.Pending() || now.Word == before.word:
			case !now.Serving():
				known[id] = spell{now.Word, time.Now()}
				a.telemetry.Log.Warn("agent not serving", "agent", id, "state", now.Word, "why", now.Why)
			case before.word != "":
				delete(known, id)
				a.telemetry.Log.Info("agent serving again", "agent", id, "was", before.word, "for", time.Since(before.since).Round(time.Second).String())
			}
		}
		s.Release()
	}
}
