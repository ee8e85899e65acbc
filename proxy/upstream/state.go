package upstream

import "time"

// State is how an agent is doing at one moment.
type State struct {
	// Instances that are known, and of them those that would get the next call. An agent
	// without instances is one.
	Instances, Healthy int
	// Circuit is 0 for closed, 1 where a probe is waited for, and 2 for open: with
	// instances, the best of theirs.
	Circuit int
}

// State says how the agent is doing.
func (u *Upstream) State() State {
	now, all := time.Now().UnixNano(), []*instance{u.direct}
	if u.fleet != nil {
		all = u.fleet.set.Load().all
	}
	s := State{Instances: len(all)}
	if len(all) > 0 {
		s.Circuit = 2
	}
	for _, i := range all {
		if i.well(now) {
			s.Healthy++
		}
		s.Circuit = min(s.Circuit, map[uint64]int{closed: 0, probing: 1, open: 2}[i.circuit.phase(now)])
	}
	return s
}
