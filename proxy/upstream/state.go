package upstream

import (
	"cmp"
	"slices"
	"time"
)

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

// InstanceState is how an instance is doing at one moment.
type InstanceState struct {
	Address   string        // as found
	Why       string        // why it would not get the next call; "" where it would
	Latency   time.Duration // smoothed, until the head of an answer; 0 where none has come yet
	Calls     int           // in flight, streams included
	Ejections int           // since it was found
}

// shown bounds what Instances returns.
const shown = 32

// Instances says how the agent's instances are doing, 32 at most: first those that would get
// no call, then those that take longest. An agent without instances has none.
func (u *Upstream) Instances() []InstanceState {
	if u.fleet == nil {
		return nil
	}
	now, all := time.Now().UnixNano(), u.fleet.set.Load().all
	list := make([]InstanceState, len(all))
	for n, i := range all {
		list[n] = i.state(now)
	}
	slices.SortStableFunc(list, func(a, b InstanceState) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(b.Latency, a.Latency))
	})
	return list[:min(len(list), shown)]
}

// rank is 1 for those that get no calls.
func (s InstanceState) rank() int { return min(len(s.Why), 1) }

// state is what an operator sees of it; the first reason for getting no calls counts.
func (i *instance) state(now int64) InstanceState {
	s := InstanceState{
		Address: i.address, Latency: time.Duration(i.latency.Load()), Calls: int(i.calls.Load()), Ejections: int(i.ejections.Load()),
	}
	switch out := time.Duration(i.ejected.Load() - now); {
	case i.down.Load():
		s.Why = "its checks fail"
	case out > 0:
		s.Why = "it failed calls and is ejected for " + out.Round(time.Second).String()
	case !i.circuit.admits(now):
		s.Why = "its circuit is open"
	}
	return s
}
