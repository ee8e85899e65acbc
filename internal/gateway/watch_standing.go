package gateway

import "time"

// standingEvery is how often the log is told of agents that calls reach no more, or again.
const standingEvery = time.Second

// watchStanding logs when it begins that an agent is not serving, when it is so for another
// reason, and when it ends.
func (g *Gateway) watchStanding() {
	type spell struct {
		word  string
		since time.Time
	}
	known := map[string]spell{}
	tick := time.NewTicker(standingEvery)
	defer tick.Stop()
	for {
		select {
		case <-g.closed:
			return
		case <-tick.C:
		}
		s := g.current.Acquire()
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
				g.telemetry.Log.Warn("agent not serving", "agent", id, "state", now.Word, "why", now.Why)
			case before.word != "":
				delete(known, id)
				g.telemetry.Log.Info("agent serving again", "agent", id, "was", before.word, "for", time.Since(before.since).Round(time.Second).String())
			}
		}
		s.Release()
	}
}
