package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// build makes a snapshot. Everything that can fail fails here, before anything
// that serves is touched; old may be nil.
func (g *Gateway) build(ctx context.Context, cfg *config.Config, old *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{Config: cfg, Agents: make(map[string]*snapshot.Member, len(cfg.Agents)), Warned: map[string]bool{}}
	s.Refs.Store(1)
	var err error
	if s.Egress, err = tunnel.New(cfg.Egress); err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	if s.Book, err = cfg.Extensions.Compile(); err != nil {
		return nil, fmt.Errorf("extensions: %w", err)
	}
	s.Book.Through(s.Egress)
	for _, w := range s.Book.Warnings() {
		g.telemetry.Log.Warn("extension", "warning", w)
	}
	rules, warnings, err := policy.Compile(cfg.Policy.Config, cfg.RuleAgents(), s.Book.Extra().Methods()...)
	if err != nil {
		s.Book.Close()
		return nil, fmt.Errorf("policy: %w", err)
	}
	s.Rules = rules
	for _, w := range warnings {
		g.telemetry.Log.Warn("policy rule", "warning", w.String())
	}
	if err := g.compileLimits(s, cfg); err != nil {
		s.Dismiss()
		return nil, err
	}
	public, err := g.publicURL(cfg)
	if err != nil {
		s.Dismiss()
		return nil, fmt.Errorf("server.publicURL: %w", err)
	}
	s.Public = public
	if err := g.buildMembers(s, cfg, old); err != nil {
		s.Dismiss()
		return nil, err
	}
	var previous *authn.Chain
	if old != nil {
		previous = old.Chain
	}
	s.Chain, err = authn.New(ctx, cfg.Authn, g.identity(cfg, public, previous))
	if err != nil {
		s.Dismiss()
		return nil, fmt.Errorf("authn: %w", err)
	}
	s.Proxy, err = g.assemble(cfg, s)
	if err != nil {
		g.keepPush(old)
		s.Chain.Close()
		s.Dismiss()
		return nil, err
	}
	s.Close = sync.OnceFunc(func() {
		s.Chain.Close()
		s.Dismiss()
	})
	s.WaitReady(ctx)
	return s, nil
}

func (g *Gateway) assemble(cfg *config.Config, s *snapshot.Snapshot) (*proxy.Proxy, error) {
	all := make([]*agents.Agent, 0, len(cfg.Agents))
	for _, a := range cfg.Agents {
		all = append(all, s.Agents[a.ID].Agent)
	}
	sharing := ledger.Config{
		Scope: cfg.Policy.Tasks.Scope, Adopt: cfg.Policy.Tasks.Contexts == "adopt", Backend: agents.Backends(all),
	}
	if len(cfg.Policy.Tasks.Sharing) > 0 {
		sharing.Share = proxy.Sharing(s.Rules)
	}
	relay, err := g.relay(cfg, s.Egress)
	if err != nil {
		return nil, err
	}
	return proxy.New(proxy.Options{
		PublicURL: s.Public,
		Hosts:     g.hosts(cfg),
		Schemes:   schemes(cfg),
		FileParts: cfg.Policy.FileParts,
		Book:      s.Book,
		Providers: provided.Providers(),
		Steps:     g.store,
		Values:    g.store,
		Server:    cfg.Server,
		Agents:    all,
		Authn:     s.Chain,
		Policy:    s.Rules,
		Limits:    s.Limits,
		Panel:     s.Panel,
		Ledger:    ledger.New(g.store, sharing),
		Telemetry: g.telemetry,
		Audit:     g.audit,
		Anomalies: g.anomalies,
		FailOpen:  cfg.Telemetry.Audit.FailOpen(),
		Catalog:   cfg.Catalog,
		Push:      cfg.Push,
		Relay:     relay,
		Salt:      g.salt,
		Sealer:    g.keys,
		System:    g.system(*cfg.Server.Reflection),
		GRPC:      cfg.Server.GRPC(),
		JWKS:      g.keys.JWKS,
		Signing:   g.keys,
		Hold:      s.Hold,
		Drain:     g.onDrain,
		Streams:   &g.streams,
		Shown:     &g.shown,
		Load:      &g.work,

		StreamConfig: cfg.Streams,
		Hub:          g.hub,
	})
}

// compileLimits makes what bounds calls beside the rules: limits and authorizers. What is not
// configured is not there, and costs nothing.
func (g *Gateway) compileLimits(s *snapshot.Snapshot, cfg *config.Config) (err error) {
	log, metrics := g.telemetry.Log, g.telemetry.Metrics
	if len(cfg.Policy.Limits.Each) > 0 {
		s.Limits, err = limits.New(cfg.Policy.Limits, limits.Options{
			Agents: cfg.RuleAgents(), Methods: s.Book.Extra().Methods(),
			Store: g.store, Local: g.local, Log: log, Fell: metrics.LimitUncounted,
		})
		if err != nil {
			return fmt.Errorf("policy.limits: %w", err)
		}
	}
	if len(cfg.Policy.Authorizers) > 0 {
		s.Panel, err = pdp.New(cfg.Policy.Authorizers, pdp.Options{
			Agents: cfg.RuleAgents(), Methods: s.Book.Extra().Methods(),
			Gateway: cfg.Server.ID, Egress: s.Egress, Log: log, Asked: metrics.AuthorizerAsked,
		})
	}
	return err // names the keys
}

// buildMembers fills s.agents, taking over from old whoever has not changed.
func (g *Gateway) buildMembers(s *snapshot.Snapshot, cfg *config.Config, old *snapshot.Snapshot) error {
	// Before a card is judged: the names of all count, of agents that go until they are gone.
	known := cfg.AgentIDs()
	if old != nil {
		known = append(known, old.Config.AgentIDs()...)
	}
	g.names.Keep(known)
	var errs []error
	for i, a := range cfg.Agents {
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
		m, err := g.member(a, cfg, s, before)
		if err != nil {
			errs = append(errs, fmt.Errorf("agents[%d] (%s): %w", i, a.ID, err))
			continue
		}
		s.Agents[a.ID] = m
	}
	return errors.Join(errs...)
}
