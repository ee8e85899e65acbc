package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// snapshot is one configuration, built whole. It never changes. A request uses
// the one it began with, a stream of hours too; a snapshot closes when it has
// been replaced and its last request has ended.
type snapshot struct {
	config *config.Config
	public *url.URL
	egress *tunnel.Proxy
	proxy  *proxy.Proxy
	chain  *authn.Chain
	agents map[string]*member

	rules  *policy.Set
	limits *limits.Limiter
	panel  *pdp.Panel
	book   *ext.Book

	refs  atomic.Int64
	close func()

	linting sync.Mutex      // guards warned
	warned  map[string]bool // what lint has said
}

// member is an agent with what keeps running for it. Members that a reload did
// not change move to the next snapshot as they are, connections and card
// included.
type member struct {
	config agents.Config
	agent  *agents.Agent
	judge  *trust.Judge
	retire context.CancelFunc // ends the card's refresher
	stop   context.CancelFunc // ends all that keeps running
	users  *atomic.Int64      // snapshots that hold it
}

// firstAnswer is how long building waits for agents' cards, all together. A reload
// that adds an agent then serves it at once; a gateway that starts before its
// agents does not wait longer than this.
const firstAnswer = 2 * time.Second

// build makes a snapshot. Everything that can fail fails here, before anything
// that serves is touched; old may be nil.
func (g *Gateway) build(ctx context.Context, cfg *config.Config, old *snapshot) (*snapshot, error) {
	s := &snapshot{config: cfg, agents: make(map[string]*member, len(cfg.Agents)), warned: map[string]bool{}}
	s.refs.Store(1)
	var err error
	if s.egress, err = tunnel.New(cfg.Egress); err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	if s.book, err = cfg.Extensions.Compile(); err != nil {
		return nil, fmt.Errorf("extensions: %w", err)
	}
	s.book.Through(s.egress)
	for _, w := range s.book.Warnings() {
		g.telemetry.Log.Warn("extension", "warning", w)
	}
	rules, warnings, err := policy.Compile(cfg.Policy.Config, cfg.RuleAgents(), s.book.Extra().Methods()...)
	if err != nil {
		s.book.Close()
		return nil, fmt.Errorf("policy: %w", err)
	}
	s.rules = rules
	for _, w := range warnings {
		g.telemetry.Log.Warn("policy rule", "warning", w.String())
	}
	if err := g.compileLimits(s, cfg); err != nil {
		s.dismiss()
		return nil, err
	}
	public, err := g.publicURL(cfg)
	if err != nil {
		s.dismiss()
		return nil, fmt.Errorf("server.publicURL: %w", err)
	}
	s.public = public
	if err := g.buildMembers(s, cfg, old); err != nil {
		s.dismiss()
		return nil, err
	}
	var previous *authn.Chain
	if old != nil {
		previous = old.chain
	}
	s.chain, err = authn.New(ctx, cfg.Authn, g.identity(cfg, public, previous))
	if err != nil {
		s.dismiss()
		return nil, fmt.Errorf("authn: %w", err)
	}
	s.proxy, err = g.assemble(cfg, s)
	if err != nil {
		g.keepPush(old)
		s.chain.Close()
		s.dismiss()
		return nil, err
	}
	s.close = sync.OnceFunc(func() {
		s.chain.Close()
		s.dismiss()
	})
	s.waitReady(ctx)
	return s, nil
}

func (g *Gateway) assemble(cfg *config.Config, s *snapshot) (*proxy.Proxy, error) {
	all := make([]*agents.Agent, 0, len(cfg.Agents))
	for _, a := range cfg.Agents {
		all = append(all, s.agents[a.ID].agent)
	}
	sharing := ledger.Config{
		Scope: cfg.Policy.Tasks.Scope, Adopt: cfg.Policy.Tasks.Contexts == "adopt", Backend: agents.Backends(all),
	}
	if len(cfg.Policy.Tasks.Sharing) > 0 {
		sharing.Share = proxy.Sharing(s.rules)
	}
	relay, err := g.relay(cfg, s.egress)
	if err != nil {
		return nil, err
	}
	return proxy.New(proxy.Options{
		PublicURL: s.public,
		Hosts:     g.hosts(cfg),
		Schemes:   schemes(cfg),
		FileParts: cfg.Policy.FileParts,
		Book:      s.book,
		Providers: provided.Providers(),
		Steps:     g.store,
		Values:    g.store,
		Server:    cfg.Server,
		Agents:    all,
		Authn:     s.chain,
		Policy:    s.rules,
		Limits:    s.limits,
		Panel:     s.panel,
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
		Hold:      s.hold,
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
func (g *Gateway) compileLimits(s *snapshot, cfg *config.Config) (err error) {
	log, metrics := g.telemetry.Log, g.telemetry.Metrics
	if len(cfg.Policy.Limits.Each) > 0 {
		s.limits, err = limits.New(cfg.Policy.Limits, limits.Options{
			Agents: cfg.RuleAgents(), Methods: s.book.Extra().Methods(),
			Store: g.store, Local: g.local, Log: log, Fell: metrics.LimitUncounted,
		})
		if err != nil {
			return fmt.Errorf("policy.limits: %w", err)
		}
	}
	if len(cfg.Policy.Authorizers) > 0 {
		s.panel, err = pdp.New(cfg.Policy.Authorizers, pdp.Options{
			Agents: cfg.RuleAgents(), Methods: s.book.Extra().Methods(),
			Gateway: cfg.Server.ID, Egress: s.egress, Log: log, Asked: metrics.AuthorizerAsked,
		})
	}
	return err // names the keys
}

// buildMembers fills s.agents, taking over from old whoever has not changed.
func (g *Gateway) buildMembers(s *snapshot, cfg *config.Config, old *snapshot) error {
	// Before a card is judged: the names of all count, of agents that go until they are gone.
	known := cfg.AgentIDs()
	if old != nil {
		known = append(known, old.config.AgentIDs()...)
	}
	g.names.Keep(known)
	var errs []error
	for i, a := range cfg.Agents {
		a.Answer = cmp.Or(a.Answer, cfg.Server.Timeouts.Call)
		var before *member
		if old != nil {
			before = old.agents[a.ID]
		}
		// What the gateway signs for an agent names the gateway's own URL.
		if before != nil && *old.public == *s.public && reflect.DeepEqual(old.config.Egress, cfg.Egress) && reflect.DeepEqual(before.config, a) {
			before.users.Add(1)
			s.agents[a.ID] = before
			continue
		}
		m, err := g.member(a, cfg, s, before)
		if err != nil {
			errs = append(errs, fmt.Errorf("agents[%d] (%s): %w", i, a.ID, err))
			continue
		}
		s.agents[a.ID] = m
	}
	return errors.Join(errs...)
}

// waitReady gives agents and issuers that have never been seen a moment to answer,
// so that the first callers find cards and keys. Whoever is away is reported by
// /readyz or the log, and asked again in the background.
func (s *snapshot) waitReady(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	warm := make(chan struct{})
	go func() {
		defer close(warm)
		_ = s.chain.Warm(ctx) // the chain logs it
	}()
	for _, m := range s.agents {
		_ = m.agent.Source.Wait(ctx)
		m.agent.Upstream.Wait(ctx)
	}
	<-warm
}

// retire ends the refreshing of the cards that next goes without. A stream may hold on to
// such a member for a day: it goes by the card that is there, and what an agent that was
// removed serves now is nobody's concern.
func (s *snapshot) retire(next *snapshot) {
	for id, m := range s.agents {
		if next.agents[id] != m {
			m.retire()
		}
	}
}

// dismiss lets go of the members; the last snapshot to do so ends them.
func (s *snapshot) dismiss() {
	s.book.Close()
	if s.limits != nil {
		s.limits.Close()
	}
	if s.panel != nil {
		s.panel.Close()
	}
	for _, m := range s.agents {
		if m.users.Add(-1) == 0 {
			m.stop()
			m.agent.Upstream.Close()
		}
	}
}

// hold keeps s until release, for who has it already.
func (s *snapshot) hold() (release func()) {
	s.refs.Add(1)
	return s.release
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		s.close()
	}
}

// acquire returns the current snapshot, held until release, or nil once the
// gateway has closed. Between loading the pointer and counting, a reload may have
// let go of it: then the next one is it.
func (g *Gateway) acquire() *snapshot {
	for {
		s := g.current.Load()
		if s == nil {
			return nil
		}
		s.refs.Add(1)
		if g.current.Load() == s {
			return s
		}
		s.release()
	}
}
