package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Agents is the fleet as the console sees it, and changes it. It is what
// internal/console/fleet declares as its interface Agents.
type Agents struct {
	*Changes

	trends *trends
	pace   pace
}

// NewAgents makes what the console asks. Trends begin to be counted now.
func NewAgents(c *Changes) *Agents {
	now := time.Now()
	return &Agents{Changes: c, trends: newTrends(now), pace: pace{newTrends(now), newTrends(now)}}
}

// All implements fleet.Agents. Agents that are left out are in the list as well, with why,
// and not served.
func (a *Agents) All(context.Context) ([]fleet.Agent, error) {
	ids := map[string]bool{}
	s := a.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	for id := range s.Agents {
		ids[id] = true
	}
	r := a.Registry
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.faults {
		ids[id] = true
	}
	list := make([]fleet.Agent, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		list = append(list, r.show(s, id))
	}
	return list, nil
}

// show describes one agent. r.mu is held. What comes from the card (version, interfaces,
// skills) is missing where there is no card yet. A fault of the registry is shown in place
// of what the agent's own standing says.
func (r *Registry) show(s *snapshot.Snapshot, id string) fleet.Agent {
	a := fleet.Agent{ID: id}
	a.Origin, a.Source, a.Registered = r.origin(id)
	if m := s.Agents[id]; m != nil {
		a.Served = true
		now := m.Standing()
		a.State = now.Word
		if !now.Serving() {
			a.Failure = now.Text()
		}
		for _, i := range m.Agent.Upstream.Instances() {
			a.Instances = append(a.Instances, fleet.Instance{
				Address: i.Address, Healthy: i.Why == "", Why: i.Why, Latency: i.Latency.Seconds(), Calls: i.Calls, Ejections: i.Ejections,
			})
		}
		if c := m.Agent.Source.Current(); c != nil {
			a.Version = c.Version
			for _, i := range m.Config.Offers(c) {
				a.Interfaces = append(a.Interfaces, fleet.Interface{Version: string(i.Version), Binding: i.Binding.String()})
			}
			for i := range c.Skills {
				a.Skills = append(a.Skills, c.Skills[i].ID)
			}
		}
	}
	if err := r.faults[id]; err != nil {
		a.Failure = err.Error()
	}
	return a
}

// One implements fleet.Agents. false says that there is no such agent. One that was
// registered has its document with it, as it was registered, with secrets replaced.
func (a *Agents) One(_ context.Context, id string) (fleet.Agent, bool, error) {
	s := a.Current.Acquire()
	if s == nil {
		return fleet.Agent{}, false, snapshot.ErrClosed
	}
	defer s.Release()
	r := a.Registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Agents[id] == nil && r.faults[id] == nil {
		return fleet.Agent{}, false, nil
	}
	shown := r.show(s, id)
	if one := r.registered[id]; shown.Origin == fleet.FromAPI && one.Doc != nil {
		var err error
		shown.Edition, shown.By = one.edition, one.By
		if shown.Agent, err = config.ShowAgent(one.Doc); err != nil {
			return shown, true, err
		}
	}
	return shown, true, nil
}

// Put implements fleet.Agents. The agent is built and only then written and served, so that
// nothing is kept that cannot be. Doc is the JSON of an agent, as the configuration has it.
// Without Replace an agent of this id has to be new, for other gateways too: Add is atomic
// in the state, while a look followed by a Put would let two gateways register the same id.
// Match is compared with what is registered after the state was read, with the lock of reloads
// held, so that of two operators at this gateway the second is refused.
func (a *Agents) Put(ctx context.Context, id string, r fleet.Registration) error {
	doc, match, err := a.whole(id, r)
	if err != nil {
		return err
	}
	agent, err := config.ReadAgent(doc)
	if err != nil {
		return invalid(err)
	}
	// The time is this gateway's; it is shown, and nothing is decided by it.
	sealed, err := json.Marshal(registered{Doc: doc, At: time.Now().UTC(), By: r.By})
	if err != nil {
		return err
	}
	sealed = a.Registry.Cipher.Seal(sealed, place(id))
	return a.alter(ctx, id, &agent, func() error {
		if match != "" && match != a.Registry.edition(id) {
			return fleet.ErrAgentOther
		}
		if !r.Replace {
			added, err := a.Registry.Values.Add(ctx, space, id, sealed, 0)
			if err == nil && !added {
				err = fleet.ErrAgentTaken // by another gateway, just now
			}
			return err
		}
		return a.Registry.Values.Put(ctx, space, id, sealed, 0)
	}, r.Replace)
}

// invalid are the problems of a document as the console tells them.
func invalid(err error) error {
	if wrong, ok := errors.AsType[config.Problems](err); ok {
		return fleet.AgentInvalid(wrong)
	}
	return err
}

// Remove implements fleet.Agents. false says that there is no such agent. One of the file
// can only be removed there.
func (a *Agents) Remove(ctx context.Context, id string) (bool, error) {
	if _, err := a.Registry.read(ctx); err != nil {
		return false, err
	}
	a.Registry.mu.Lock()
	_, known := a.Registry.registered[id]
	origin, _, _ := a.Registry.origin(id)
	a.Registry.mu.Unlock()
	switch {
	case !known && origin == fleet.FromFile:
		return false, fleet.ErrAgentInFile
	case !known:
		return false, nil
	}
	return true, a.alter(ctx, id, nil, func() error { return a.Registry.Values.Delete(ctx, space, id) }, true)
}

// alter builds the fleet with one change, has the change written, and serves it. agent is
// nil where the agent goes. The change is written (keep) by the reload, after the snapshot
// was built and before it is put in force: what is served was written, and what could not
// be written is not served. Errors of the build are errors of the request, as the agent is
// what has changed.
func (a *Agents) alter(ctx context.Context, id string, agent *agents.Config, keep func() error, replace bool) error {
	a.Reloads.Lock()
	defer a.Reloads.Unlock()
	if _, err := a.Registry.read(ctx); err != nil {
		return err // another gateway may have changed the fleet, or nobody can
	}
	whole, err := a.Registry.with(id, agent, replace)
	if err != nil {
		return err
	}
	var unkept error
	err = a.Reloads.Replace(ctx, whole, func() error {
		unkept = keep()
		return unkept
	})
	switch {
	case unkept != nil:
		return unkept
	case err != nil && !errors.Is(err, snapshot.ErrClosed):
		return fleet.AgentInvalid{err.Error()}
	case err != nil:
		return err
	}
	if _, err := a.Registry.read(ctx); err != nil {
		a.Registry.noteAway(err)
	}
	// The list of faults is made anew, with the change in it.
	a.Registry.Enlist(a.Registry.Loaded()) // says what is left out now
	return nil
}
