package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/consent"
	"github.com/a2a-gateway/a2a-gateway/internal/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcsystem"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/mcpserver"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// builder makes snapshots of configurations.
type builder struct {
	addresses      addresses
	authentication *authentication
	members        *members
	deliveries     *deliveries.Relay
	consent        *consent.Desk
	tools          *mcpserver.Server

	telemetry *telemetry.Telemetry
	audit     *audit.Log
	anomalies *anomalies
	state     *stateStore
	keys      *keys.Ring
	drain     *drain
	streams   *openStreams
	load      *loadReport
	hub       *stream.Hub

	salt  []byte          // of contexts that are renamed for callers
	shown ownership.Shown // what agents have shown of tasks, whichever snapshot they did so in
}

// build makes a snapshot. Everything that can fail fails here, before anything that serves
// is touched; old may be nil. The order is that of what the parts need of each other:
// extensions bring methods that rules may name, rules and limits are compiled before agents
// are made, and the proxy takes all of it. On an error, what was made so far is closed
// again (Dismiss), and agents that the old snapshot still uses go on.
func (b *builder) build(ctx context.Context, cfg *config.Config, old *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{Config: cfg, Agents: make(map[string]*snapshot.Member, len(cfg.Agents)), Warned: map[string]bool{}}
	// The reference of whoever puts it in force; requests add theirs.
	s.Refs.Store(1)
	var err error
	if s.Egress, err = tunnel.New(cfg.Egress); err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	if s.Book, err = cfg.Extensions.Compile(); err != nil {
		return nil, fmt.Errorf("extensions: %w", err)
	}
	// Hooks and schemas of extensions are fetched by the configured way out as well.
	s.Book.Through(s.Egress)
	for _, w := range s.Book.Warnings() {
		b.telemetry.Log.Warn("extension", "warning", w)
	}
	rules, warnings, err := policy.Compile(cfg.Policy.Config, cfg.RuleAgents(), s.Book.Extra().Methods()...)
	if err != nil {
		s.Book.Close()
		return nil, fmt.Errorf("policy: %w", err)
	}
	s.Rules = rules
	for _, w := range warnings {
		b.telemetry.Log.Warn("policy rule", "warning", w.String())
	}
	if err := b.compileLimits(s, cfg); err != nil {
		s.Dismiss()
		return nil, err
	}
	public, err := b.addresses.publicURL(cfg)
	if err != nil {
		s.Dismiss()
		return nil, fmt.Errorf("server.publicURL: %w", err)
	}
	s.Public = public
	if err := b.members.build(s, cfg, old); err != nil {
		s.Dismiss()
		return nil, err
	}
	// Keys of issuers that were fetched before need not be fetched again.
	var previous *authn.Chain
	if old != nil {
		previous = old.Chain
	}
	s.Chain, err = schemes.New(ctx, cfg.Authn, b.authentication.options(cfg, public, previous))
	if err != nil {
		s.Dismiss()
		return nil, fmt.Errorf("authn: %w", err)
	}
	s.Proxy, err = b.assemble(cfg, s)
	if err != nil {
		// Take has told the relay of the new configuration already. It goes back to the old
		// one, or to none.
		b.deliveries.Keep(old)
		s.Chain.Close()
		s.Dismiss()
		return nil, err
	}
	// Requests that end at the same time may both be the last.
	s.Close = sync.OnceFunc(func() {
		s.Chain.Close()
		s.Dismiss()
	})
	// Cards of new agents are fetched meanwhile. Waiting for them a little keeps the first
	// calls after a start from being refused for want of a card.
	s.WaitReady(ctx)
	return s, nil
}

// assemble makes the proxy of a snapshot. The options name what the proxy uses: parts of
// the snapshot, which end with it, and long-lived ones, such as the hub of streams, which
// go over from one snapshot to the next.
func (b *builder) assemble(cfg *config.Config, s *snapshot.Snapshot) (*proxy.Proxy, error) {
	// In the order of the configuration, which decides where two agents could match.
	all := make([]*agents.Agent, 0, len(cfg.Agents))
	for _, a := range cfg.Agents {
		all = append(all, s.Agents[a.ID].Agent)
	}
	sharing := ledger.Config{
		Scope: cfg.Policy.Tasks.Scope, Adopt: cfg.Policy.Tasks.Contexts == "adopt", Backend: agents.Backends(all),
	}
	// Without rules for sharing, a task is its owner's alone, and nothing is asked.
	if len(cfg.Policy.Tasks.Sharing) > 0 {
		sharing.Share = proxy.Sharing(s.Rules)
	}
	relay, err := b.deliveries.Take(cfg, s.Public, s.Egress)
	if err != nil {
		return nil, err
	}
	return proxy.New(proxy.Options{
		PublicURL: s.Public,
		Hosts:     b.addresses.hosts(cfg),
		Server:    cfg.Server,
		Agents:    all,
		Authn:     s.Chain,
		Telemetry: b.telemetry,
		Audit:     b.audit,
		FailOpen:  cfg.Telemetry.Audit.FailOpen(),
		Load:      &b.load.ladder,
		Tools:     b.tools,
		System:    grpcsystem.Handler(b.drain.health, *cfg.Server.Reflection),
		Policy:    s.Rules,
		FileParts: cfg.Policy.FileParts,
		Guards:    s.Guards,
		Limits:    s.Limits,
		Panel:     s.Panel,
		Approvals: proxy.Approvals{Store: b.consent.Store, Begun: b.consent.Begun, May: b.consent.Stays},
		Anomalies: b.anomalies.watch,
		Push:      cfg.Push,
		Relay:     relay,

		Memory: proxy.Memory{
			Ledger: ledger.New(b.state.store, sharing),
			Shown:  &b.shown,
			Values: b.state.store,
			Salt:   b.salt,
			Sealer: b.keys,
		},
		Extensions: proxy.Extensions{Book: s.Book, Providers: provided.Providers(), Steps: b.state.store},
		Documents: proxy.Documents{
			Schemes: cardSchemes(cfg),
			GRPC:    cfg.Server.GRPC(),
			JWKS:    b.keys.JWKS,
			Signing: b.keys,
			Catalog: cfg.Catalog,
		},
		Streaming: proxy.Streaming{
			StreamConfig: cfg.Streams,
			Hub:          b.hub,
			Streams:      &b.streams.list,
			Hold:         s.Hold,
			Drain:        b.drain.onFarewell,
		},
	})
}

// compileLimits makes what bounds calls beside the rules: limits, authorizers and guards. What is not
// configured is not there, and costs nothing.
func (b *builder) compileLimits(s *snapshot.Snapshot, cfg *config.Config) (err error) {
	log, metrics := b.telemetry.Log, b.telemetry.Metrics
	if len(cfg.Policy.Limits.Each) > 0 {
		s.Limits, err = limits.New(cfg.Policy.Limits, limits.Options{
			Agents: cfg.RuleAgents(), Methods: s.Book.Extra().Methods(),
			Store: b.state.store, Local: b.state.local, Log: log, Fell: metrics.Policy.LimitUncounted,
		})
		if err != nil {
			return fmt.Errorf("policy.limits: %w", err)
		}
	}
	if len(cfg.Policy.Authorizers) > 0 {
		s.Panel, err = pdp.New(cfg.Policy.Authorizers, pdp.Options{
			Agents: cfg.RuleAgents(), Methods: s.Book.Extra().Methods(),
			Gateway: cfg.Server.ID, Egress: s.Egress, Log: log, Asked: metrics.Policy.AuthorizerAsked,
		})
		if err != nil {
			return err // names the keys
		}
	}
	s.Guards, err = guard.New(cfg.Policy.Guards, guard.Options{
		Agents: cfg.RuleAgents(), Methods: s.Book.Extra().Methods(), Hold: cfg.Policy.GuardWindow,
		Egress: s.Egress, Log: log, Asked: metrics.Guards.Asked, Files: true,
	})
	return err // names the keys
}
