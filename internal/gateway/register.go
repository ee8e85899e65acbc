package gateway

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// registry is the fleet as the console sees it.
type registry struct{ *Gateway }

// All implements console.Agents.
func (g registry) All(context.Context) ([]console.Agent, error) {
	ids := map[string]bool{}
	s := g.current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	for id := range s.Agents {
		ids[id] = true
	}
	r := g.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.faults {
		ids[id] = true
	}
	list := make([]console.Agent, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		list = append(list, r.show(s, id))
	}
	return list, nil
}

// show describes one agent. r.mu is held.
func (r *roster) show(s *snapshot.Snapshot, id string) console.Agent {
	a := console.Agent{ID: id}
	a.Origin, a.Source, a.Registered = r.origin(id)
	if m := s.Agents[id]; m != nil {
		a.Served = true
		now := m.Standing()
		a.State = now.Word
		if !now.Serving() {
			a.Failure = now.Text()
		}
		for _, i := range m.Agent.Upstream.Instances() {
			a.Instances = append(a.Instances, console.Instance{
				Address: i.Address, Healthy: i.Why == "", Why: i.Why, Latency: i.Latency.Seconds(), Calls: i.Calls, Ejections: i.Ejections,
			})
		}
		if c := m.Agent.Source.Current(); c != nil {
			a.Version = c.Version
			for _, i := range m.Config.Offers(c) {
				a.Interfaces = append(a.Interfaces, console.Interface{Version: string(i.Version), Binding: i.Binding.String()})
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

// One implements console.Agents.
func (g registry) One(_ context.Context, id string) (console.Agent, bool, error) {
	s := g.current.Acquire()
	if s == nil {
		return console.Agent{}, false, snapshot.ErrClosed
	}
	defer s.Release()
	r := g.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Agents[id] == nil && r.faults[id] == nil {
		return console.Agent{}, false, nil
	}
	a := r.show(s, id)
	if one := r.registered[id]; a.Origin == console.FromAPI && one.Doc != nil {
		var err error
		if a.Agent, err = config.ShowAgent(one.Doc); err != nil {
			return a, true, err
		}
	}
	return a, true, nil
}

// Put implements console.Agents. The agent is built and only then written and served, so
// that nothing is kept that cannot be.
func (g registry) Put(ctx context.Context, id string, doc []byte, replace bool) error {
	agent, err := config.ReadAgent(doc)
	var wrong config.Problems
	if errors.As(err, &wrong) {
		return console.AgentInvalid(wrong)
	}
	if err != nil {
		return err
	}
	sealed, err := json.Marshal(registered{Doc: doc, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	sealed = g.roster.cipher.Seal(sealed, place(id))
	return g.alter(ctx, id, &agent, func() error {
		if !replace {
			added, err := g.store.Add(ctx, agentSpace, id, sealed, 0)
			if err == nil && !added {
				err = console.ErrAgentTaken // by another gateway, just now
			}
			return err
		}
		return g.store.Put(ctx, agentSpace, id, sealed, 0)
	}, replace)
}

// Remove implements console.Agents.
func (g registry) Remove(ctx context.Context, id string) (bool, error) {
	if _, err := g.roster.read(ctx); err != nil {
		return false, err
	}
	g.roster.mu.Lock()
	_, known := g.roster.registered[id]
	origin, _, _ := g.roster.origin(id)
	g.roster.mu.Unlock()
	switch {
	case !known && origin == console.FromFile:
		return false, console.ErrAgentInFile
	case !known:
		return false, nil
	}
	return true, g.alter(ctx, id, nil, func() error { return g.store.Delete(ctx, agentSpace, id) }, true)
}

// alter builds the fleet with one change, has the change written, and serves it. agent is
// nil where the agent goes.
func (g registry) alter(ctx context.Context, id string, agent *agents.Config, keep func() error, replace bool) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	if _, err := g.roster.read(ctx); err != nil {
		return err // another gateway may have changed the fleet, or nobody can
	}
	whole, err := g.roster.with(id, agent, replace)
	if err != nil {
		return err
	}
	var unkept error
	err = g.replace(ctx, whole, func() error {
		unkept = keep()
		return unkept
	})
	switch {
	case unkept != nil:
		return unkept
	case err != nil && !errors.Is(err, snapshot.ErrClosed):
		return console.AgentInvalid{err.Error()}
	case err != nil:
		return err
	}
	if _, err := g.roster.read(ctx); err != nil {
		g.rosterAway(err)
	}
	g.enlist(g.roster.loaded()) // says what is left out now
	return nil
}

func (r *roster) loaded() *config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// with is the configuration with one agent changed.
func (r *roster) with(id string, agent *agents.Config, replace bool) (*config.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.registered[id]
	origin, _, _ := r.origin(id)
	switch {
	case !r.base.Fleet.API:
		return nil, console.ErrAgentsOff
	case agent != nil && origin == console.FromFile:
		return nil, console.ErrAgentInFile
	case agent != nil && known && !replace:
		return nil, console.ErrAgentTaken
	case agent != nil && !known && len(r.registered) >= r.base.Fleet.Limit:
		return nil, console.ErrAgentsFull
	}
	whole, faults := r.base.Enlist(r.enlisted(map[string]*agents.Config{id: agent}))
	if err := faults[id]; agent != nil && err != nil {
		return nil, console.AgentInvalid{err.Error()}
	}
	return whole, nil
}
