package gateway

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cardtrust"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/configlint"
	"github.com/a2a-gateway/a2a-gateway/internal/consent"
	"github.com/a2a-gateway/a2a-gateway/internal/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcsystem"
	"github.com/a2a-gateway/a2a-gateway/internal/mcpserver"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// parts are what a gateway does beside answering calls, each made of what it depends on:
// resources, and parts before it. None knows those behind it.
type parts struct {
	anomalies    *anomalies
	cards        *cardtrust.Cards
	linter       *configlint.Linter
	certificates *certificates.Certificates
	hub          *stream.Hub // streams of agents
	streams      *openStreams
	load         *loadReport
	fleet        *fleet.Registry
	deliveries   *deliveries.Relay
	consent      *consent.Desk
	agentStates  *agentStates
	drain        *drain
	condition    *condition
	tools        *mcpserver.Server
	builder      *builder
	reloads      *reloads
	changes      *fleet.Changes
	readiness    *readiness
	console      *adminConsole
}

// mountParts makes the parts. They open nothing yet, and none of them fails. Each gets the
// parts that it uses as fields and not all of parts, so that its dependencies can be read
// from its type. The order here is therefore fixed: a part can only be given what was made
// before it.
func mountParts(ctx context.Context, cfg *configuration, r *resources, life *lifetime) *parts {
	p, current, log := &parts{}, cfg.current, r.audit.log
	p.anomalies = &anomalies{state: r.state, keys: r.keys, telemetry: r.telemetry, audit: log}
	// Rulings on cards are sealed: who can write to the state could approve a card
	// otherwise.
	sealed := state.Sealed(r.state.store, sealing{r.keys, sealedCards})
	p.cards = cardtrust.New(sealed, r.telemetry, log, p.anomalies)
	p.linter = configlint.New(current, r.telemetry)
	p.certificates = certificates.New(certificates.Options{
		Values: state.Sealed(r.state.store, sealing{r.keys, sealedCertificates}), Server: r.server, Sockets: r.sockets,
		Egress: r.egress, Telemetry: r.telemetry, Audit: log,
	})
	p.hub = newHub(cfg.begun, r)
	p.streams = &openStreams{current: current, telemetry: r.telemetry}
	p.streams.list.Retention = cfg.begun.State.KeptFor()
	p.load = &loadReport{telemetry: r.telemetry, hub: p.hub}
	p.fleet = fleet.New(fleet.Options{
		Values: r.state.store, Cipher: sealing{r.keys, sealedAgents}, Telemetry: r.telemetry,
	})
	p.deliveries = deliveries.New(deliveries.Options{
		Telemetry: r.telemetry, Audit: log, Store: r.state.store, Counts: r.state.local, Keys: r.keys,
		Cipher: sealing{r.keys, sealedDeliveries}, Current: current, Started: life.started, Closed: life.closed,
	})
	p.consent = consent.New(consent.Options{
		Values: state.Sealed(r.state.store, sealing{r.keys, sealedApprovals}), Index: r.state.store, Kept: cfg.begun.State.KeptFor(), Now: approving(current),
		Audit: log, Telemetry: r.telemetry, Console: func() string { return p.console.browsers() },
	})
	p.agentStates = &agentStates{current: current, telemetry: r.telemetry}
	p.drain = newDrain(ctx, life, current, r, p)
	p.condition = &condition{
		current: current, audit: log, state: r.state, server: r.server, certificates: p.certificates, load: p.load,
		streams: p.streams,
	}
	p.mountReloads(cfg, r)
	p.mountOperators(cfg, r, life)
	return p
}

// mountReloads makes what makes snapshots and puts them into force. builder makes
// snapshots, reloads installs them, and changes registers agents through the admin API,
// which is a reload as well.
func (p *parts) mountReloads(cfg *configuration, r *resources) {
	current := cfg.current
	p.tools = mcpserver.New(mcpserver.Options{Version: cfg.version, Current: func() (*proxy.Proxy, func()) {
		s := current.Acquire()
		if s == nil {
			return nil, nil
		}
		return s.Proxy, s.Release
	}})
	p.builder = &builder{
		addresses: addresses{r.server},
		authentication: &authentication{
			telemetry: r.telemetry, egress: r.egress, state: r.state, server: r.server, keys: r.keys,
		},
		members: &members{
			telemetry: r.telemetry, audit: r.audit.log, keys: r.keys, cards: p.cards, linter: p.linter, turns: card.NewTurns(),
		},
		deliveries: p.deliveries, consent: p.consent, tools: p.tools, telemetry: r.telemetry, audit: r.audit.log, anomalies: p.anomalies, state: r.state,
		keys: r.keys, drain: p.drain, streams: p.streams, load: p.load, hub: p.hub, salt: r.keys.Derive("contexts"),
	}
	p.reloads = &reloads{
		current: current, telemetry: r.telemetry, audit: r.audit.log, egress: r.egress, server: r.server,
		certificates: p.certificates, anomalies: p.anomalies, consent: p.consent, hub: p.hub, streams: p.streams, cards: p.cards,
		linter: p.linter, fleet: p.fleet, builder: p.builder, asks: make(chan chan error),
	}
	p.changes = &fleet.Changes{Registry: p.fleet, Reloads: p.reloads, Current: current, Audit: r.audit.log}
}

// mountOperators makes what probes and operators ask. They read from everything else, so
// that they are made last.
func (p *parts) mountOperators(cfg *configuration, r *resources, life *lifetime) {
	p.readiness = &readiness{
		life: life, current: cfg.current, audit: r.audit.log, state: r.state, server: r.server,
		certificates: p.certificates, load: p.load, fleet: p.fleet, reloads: p.reloads,
	}
	p.console = &adminConsole{
		resources: r, life: life, current: cfg.current, configuration: cfg, book: p.cards.Book,
		certificates: p.certificates, load: p.load, hub: p.hub, streams: p.streams, agents: fleet.NewAgents(p.changes),
		reloads: p.reloads, condition: p.condition, readiness: p.readiness, consent: p.consent,
	}
}

// newHub makes the hub of agents' streams. In a state that survives the process, or that
// others share, their events are kept as well. Kept events let a client come back with
// Last-Event-ID to another replica, or after a restart (HTML Living Standard, section 9.2,
// server-sent events).
func newHub(cfg *config.Config, r *resources) *stream.Hub {
	o := stream.HubOptions{
		Config: cfg.Streams, Limits: proxy.StreamLimits(cfg.Server), Log: r.telemetry.Log,
		Replica: cfg.Server.ID + " " + rand.Text(), // two processes with one id are two replicas all the same
	}
	if r.state.lasts() && cfg.Streams.Persists() {
		o.Logs, o.Holds = state.SealedLogs(r.state.store, sealing{r.keys, sealedEvents}), r.state.store
	}
	return stream.NewHub(o)
}

// newDrain makes what ends streams, for which ctx counts by its values alone. Its context
// must not end with that of New, which is often one with a deadline for the start.
func newDrain(ctx context.Context, life *lifetime, current *snapshot.Current, r *resources, p *parts) *drain {
	d := &drain{
		life: life, current: current, telemetry: r.telemetry, server: r.server, streams: p.streams, consent: p.consent, health: grpcsystem.NewHealth(),
	}
	d.ending, d.farewell = context.WithCancel(context.WithoutCancel(ctx))
	return d
}

// open begins what has to be there before the first snapshot is built, in the order in
// which they may fail: what concerns this machine first. Certificates may be ordered from a
// CA here, which asks the public listener back, so that the listener is open by then.
// Sockets that were handed over and that nobody has taken are closed afterwards: a new
// configuration may have fewer listeners.
func (p *parts) open(ctx context.Context, cfg *config.Config, version string, r *resources) error {
	p.consent.Store.Configure(cfg.Policy.Approvals)
	if err := p.console.open(cfg, version); err != nil {
		return err
	}
	r.telemetry.Metrics.SetLabels(labels(cfg)) // orders are counted
	if err := p.certificates.Open(&cfg.Server); err != nil {
		return err
	}
	r.sockets.CloseRest()
	if err := p.anomalies.open(ctx, cfg); err != nil {
		return err
	}
	r.telemetry.Metrics.Agents.Watch(p.agentStates.upstreams)
	r.telemetry.Metrics.Gateway.Watch(p.condition.read)
	p.fleet.Open(ctx, cfg)
	return nil
}

// run looks after what goes on without calls, until the gateway closes. Each goroutine ends
// when life.closed is closed; none of them is waited for, as none holds anything that has
// to be written.
func (p *parts) run(life *lifetime, current *snapshot.Current, shared bool) {
	go p.streams.review(life.closed)
	go p.streams.renew(life.closed)
	go p.linter.Run(life.closed)
	go p.agentStates.watch(life.closed)
	go p.changes.Follow(life.closed)
	go p.consent.Run(life.closed)
	go p.load.ladder.Watch(life.closed, current.Bounds, p.load.report)
	p.console.peers.Start()
	if past := p.console.history; past != nil {
		go past.Run(life.closed)
	}
	if shared { // as with keys: others may decide
		go p.cards.Follow(current, life.closed)
	}
}

// closeListeners ends what requests to others than agents come by.
func (p *parts) closeListeners() {
	p.console.console.Close()
	p.certificates.Close()
}

// approving is what the configuration in force says of approvals.
func approving(current *snapshot.Current) func() (*consent.Now, func()) {
	return func() (*consent.Now, func()) {
		s := current.Acquire()
		if s == nil {
			return nil, nil
		}
		return &consent.Now{
			Rules: s.Rules, Send: s.Proxy.SendApproved, Dial: s.Egress.Dialer(10 * time.Second), Timeout: s.Proxy.Timeout,
			Token:  func(name string) bool { return s.Config.Admin.HasToken(name, time.Now()) },
			Agents: askedAgents{s}, FailOpen: s.Config.Telemetry.Audit.FailOpen(),
		}, s.Release
	}
}

// close ends what goes on without calls. Deliveries that are under way end within ctx, and
// the others stay in the state.
func (p *parts) close(ctx context.Context) {
	p.consent.Close()
	p.tools.Close()
	p.fleet.Close()
	p.deliveries.Close(ctx)
	p.hub.Close()
	p.anomalies.watch.Close()
}
