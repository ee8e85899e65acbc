package gateway

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// upstreams says how the agents of the configuration in force are doing.
func (g *Gateway) upstreams() []telemetry.UpstreamState {
	s := g.current.Load()
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

// member makes an agent ready, and starts what keeps running for it. Of old, what it was
// before a reload, it begins with the card, where that would be judged alike; old may be nil.
func (g *Gateway) member(a agents.Config, cfg *config.Config, s *snapshot.Snapshot, old *snapshot.Member) (*snapshot.Member, error) {
	where, err := a.Card.URL.Parse()
	if err != nil {
		return nil, fmt.Errorf("card: url: %w", err)
	}
	metrics := g.telemetry.Metrics
	up, err := upstream.New(a.Config, upstream.Options{
		Card:    where,
		Egress:  s.Egress,
		Retried: func() { metrics.Retried(a.ID) },
		Ejected: func(instance string) { g.ejected(a.ID, instance) },
		Sign:    g.keys.Sign, Issuer: s.Public.String(), Gateway: cfg.Server.ID, Log: g.telemetry.Log.With("agent", a.ID),
		Fetched: func(kind, result string) { metrics.UpstreamToken(a.ID, kind, result) },
	})
	if err != nil {
		return nil, err
	}
	judge, end, err := g.judge(&a, s.Egress)
	if err != nil {
		up.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	refreshing, retire := context.WithCancel(ctx)
	stop := func() {
		retire()
		cancel()
		end()
	}
	source := card.NewSource(a.Card, up.Client(), g.telemetry.Log.With("agent", a.ID))
	source.JudgedBy(judge)
	source.OnFetch(func(result string) {
		metrics.CardFetch(a.ID, result)
		if c := source.Current(); c != nil && result != "error" {
			go look(&a, c, up) // who waits for the card does not wait for it
		}
	})
	source.OnChange(func(*card.Card) { g.relint() })
	source.InTurn(g.turns)
	agent, err := agents.New(a, source, up)
	if err != nil {
		stop()
		up.Close()
		return nil, err
	}
	m := &snapshot.Member{
		Config: a,
		Agent:  agent,
		Judge:  judge,
		Retire: retire,
		Stop:   stop,
		Users:  new(atomic.Int64),
	}
	m.Users.Store(1)
	if old != nil && m.JudgedAlike(old) {
		source.Follow(old.Agent.Source)
	}
	go source.Run(refreshing)
	go up.Run(ctx)
	return m, nil
}

// ejected counts and records that an instance is left alone for a while.
func (g *Gateway) ejected(agent, instance string) {
	g.telemetry.Metrics.Ejected(agent)
	attrs := map[string]string{"agent": agent, "instance": instance}
	if err := g.audit.Event("instance.ejected", attrs); err != nil {
		g.telemetry.Log.Error("write audit event", "error", err)
	}
}
