package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cardtrust"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/configlint"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// members makes the agents of a snapshot.
type members struct {
	telemetry *telemetry.Telemetry
	audit     *audit.Log
	keys      *keys.Ring
	cards     *cardtrust.Cards
	linter    *configlint.Linter
	turns     card.Turns // of those who fetch cards
}

// build fills s.Agents, taking over from old whoever has not changed. A member that has not
// changed keeps its connections, circuit breaker and card, so that a reload of a thousand
// agents of which one has changed disturbs that one only. Users counts the snapshots that
// have a member; the last of them stops it.
//
// All agents are tried, and the errors of all that failed are returned together.
func (m *members) build(s *snapshot.Snapshot, cfg *config.Config, old *snapshot.Snapshot) error {
	// Before a card is judged: the names of all count, of agents that go until they are gone.
	known := cfg.AgentIDs()
	if old != nil {
		known = append(known, old.Config.AgentIDs()...)
	}
	m.cards.Names.Keep(known)
	var errs []error
	for i, a := range cfg.Agents {
		// The time for an answer is that of the server where the agent sets none.
		a.Answer = cmp.Or(a.Answer, cfg.Server.Timeouts.Call)
		var before *snapshot.Member
		if old != nil {
			before = old.Agents[a.ID]
		}
		// What the gateway signs for an agent names the gateway's own URL.
		if before != nil && *old.Public == *s.Public && reflect.DeepEqual(old.Config.Egress, cfg.Egress) && reflect.DeepEqual(before.Config, a) {
			before.Users.Add(1)
			s.Agents[a.ID] = before
			continue
		}
		made, err := m.member(a, cfg, s, before)
		if err != nil {
			errs = append(errs, fmt.Errorf("agents[%d] (%s): %w", i, a.ID, err))
			continue
		}
		s.Agents[a.ID] = made
	}
	return errors.Join(errs...)
}

// member makes an agent ready, and starts what keeps running for it. Of old, what it was
// before a reload, it begins with the card, where that would be judged alike; old may be
// nil. The parts of it are closed again where a later one fails.
func (m *members) member(a agents.Config, cfg *config.Config, s *snapshot.Snapshot, old *snapshot.Member) (*snapshot.Member, error) {
	where, err := a.Card.URL.Parse()
	if err != nil {
		return nil, fmt.Errorf("card: url: %w", err)
	}
	metrics := m.telemetry.Metrics
	up, err := upstream.New(a.Config, upstream.Options{
		Card:    where,
		Egress:  s.Egress,
		Retried: func() { metrics.Agents.Retried(a.ID) },
		Ejected: func(instance string) { m.ejected(a.ID, instance) },
		Sign:    m.keys.Sign, Issuer: s.Public.String(), Gateway: cfg.Server.ID, Log: m.telemetry.Log.With("agent", a.ID),
		Fetched: func(kind, result string) { metrics.Credentials.UpstreamToken(a.ID, kind, result) },
	})
	if err != nil {
		return nil, err
	}
	judge, end, err := m.cards.Judge(&a, s.Egress)
	if err != nil {
		up.Close()
		return nil, err
	}
	// Two contexts, since an agent ends in two steps. Retire ends fetching its card, when
	// the snapshot is replaced; Stop ends its connections, when the last request of it is
	// over.
	ctx, cancel := context.WithCancel(context.Background())
	refreshing, retire := context.WithCancel(ctx)
	stop := func() {
		retire()
		cancel()
		end()
	}
	source := card.NewSource(a.Card, up.Client(), m.telemetry.Log.With("agent", a.ID))
	source.JudgedBy(judge)
	source.OnFetch(func(result string) {
		metrics.Cards.Fetched(a.ID, result)
		if c := source.Current(); c != nil && result != "error" {
			go checkReachable(&a, c, up) // who waits for the card does not wait for it
		}
	})
	// Warnings may be about several cards, so that all are looked at again.
	source.OnChange(func(*card.Card) { m.linter.Ask() })
	// Bounds how many cards are fetched at once after a start with many agents.
	source.InTurn(m.turns)
	agent, err := agents.New(a, source, up)
	if err != nil {
		stop()
		up.Close()
		return nil, err
	}
	made := &snapshot.Member{
		Config: a,
		Agent:  agent,
		Judge:  judge,
		Retire: retire,
		Stop:   stop,
		Users:  new(atomic.Int64),
	}
	made.Users.Store(1)
	if old != nil && made.JudgedAlike(old) {
		source.Follow(old.Agent.Source)
	}
	go source.Run(refreshing)
	go up.Run(ctx)
	return made, nil
}

// ejected counts and records that an instance is left alone for a while. A failure to write
// the record does not stop the ejection, which has happened already.
func (m *members) ejected(agent, instance string) {
	m.telemetry.Metrics.Agents.Ejected(agent)
	attrs := map[string]string{"agent": agent, "instance": instance}
	if err := m.audit.Event("instance.ejected", attrs); err != nil {
		m.telemetry.Log.Error("write audit event", "error", err)
	}
}
