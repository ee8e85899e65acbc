// Package proxy is the request path: it asks who is calling, what they ask,
// whether they may, with which extensions, leaves a record, and forwards.
//
// This file is the one to read first. A route is a list of stages; each stage
// answers one question about an exchange or refuses it with an error; do runs
// them, and is the only place where an error becomes a response. Stages are methods
// of the structs in stages.go: each is made of what it depends on, so that the
// receiver of a method says what it can reach.
//
// The package owns the order of the questions, the URLs of the public listener
// and the headers that cross it. It does not own the answers: they come from
// authn, policy, policy/ledger and ext, which do not know each other; proxy
// carries values between them. It may import everything below it and is imported
// by internal/config and internal/gateway only.
package proxy

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Options are the parts a Proxy is made of. All are required unless the
// comment says otherwise.
type Options struct {
	PublicURL    *url.URL      // the only source of URLs that clients are given
	Hosts        []string      // further hosts that requests may name
	Server       server.Config // limits, timeouts, trusted proxies
	Agents       []*agents.Agent
	FileParts    files.Config // of agents that have none of their own
	Authn        *authn.Chain
	Policy       *policy.Set
	Limits       *limits.Limiter // nil for none
	Panel        *pdp.Panel      // authorizers; nil for none
	Ledger       *ledger.Ledger
	Telemetry    *telemetry.Telemetry
	Audit        *audit.Log
	Anomalies    *anomaly.Watch          // what callers do that is unusual; nil where nobody looks
	FailOpen     bool                    // calls go on while no record can be written
	Schemes      card.Schemes            // what served cards say about credentials
	Book         *ext.Book               // the extensions this gateway knows; may be nil
	Providers    map[string]ext.Provider // the extensions this gateway implements, by URI; may be nil
	Steps        state.Steps             // where tasks stand in the states of extensions
	Values       state.Values            // messages that may come again; nil where no agent's configuration has dedupe
	Catalog      catalog.Config
	Push         push.Config
	Relay        *webhooks.Relay                     // of notifications; nil where push configs go on as they are, or not at all
	Salt         []byte                              // keys ids derived for callers; the same across reloads, restarts and replicas
	Sealer       cursors.Sealer                      // of page tokens; those of other replicas have to open too
	System       http.Handler                        // gRPC health and reflection; nil for none
	JWKS         func() []byte                       // the gateway's public keys (RFC 7517); nil for none
	Signing      signature.Ring                      // the keys behind JWKS, which sign served cards; nil leaves them unsigned
	GRPC         bool                                // the listener takes gRPC, so cards may say so
	Hold         func() (release func())             // keeps what this Proxy is made of for streams whose handlers have returned; may be nil
	Drain        func(end func()) (stop func() bool) // runs end when the gateway shuts down; may be nil
	StreamConfig stream.Config                       // of what clients are given of streams
	Hub          *stream.Hub                         // streams of agents, over all reloads; nil for those of this Proxy alone
	Streams      *openstreams.Streams                // event streams that are open, over all reloads; nil for those of this Proxy alone
	Shown        *ownership.Shown                    // what agents have shown of tasks, over all reloads; nil for what this Proxy alone sees
	Load         *overload.Ladder                    // what the process has to do; nil for what this Proxy has
}

// Proxy serves one configuration and never changes; a reload makes a new one.
type Proxy struct {
	Options

	stages

	extra     *wire.Extra              // the methods of extensions
	hidden    *wire.Extra              // the same for callers who ask for none of those
	offered   map[string]ext.Declared  // what Providers declare
	agents    map[string]*agents.Agent // by id
	sole      *agents.Agent            // where there is one only, and no other
	fileRules map[string]*files.Rules  // of files in messages and artifacts, by agent
	hosts     map[string]*agents.Agent // by canonical host, for host-based addressing
	origins   agents.Origins           // that agents are at
	self      map[string]struct{}      // canonical hosts of the gateway itself
	relied    []string                 // names of fields that Connection must not name, beside A2A's and HTTP's own
	browse    *wellknown.Browse        // what the catalog is made of
	signer    *signature.Signer        // of served cards; nil leaves them unsigned
	here      [2][]string              // what Via says of this gateway, after HTTP/1.1 and HTTP/2
	asterisk  record.Handler           // "OPTIONS *", which is about all of the listener
	main      *intake.Routes           // /agents/{agent}/… and the well-known documents
	home      *intake.Routes           // both, on a host of the gateway's that is an agent's as well
	hosted    *intake.Routes           // an agent at the root of a host of its own
	prefix    intake.Prefix            // of paths on the gateway's own hosts
	stray     record.Handler           // of those that do not begin with it
}

// New wires a Proxy.
func New(o Options) (*Proxy, error) {
	if o.Streams == nil {
		o.Streams = new(openstreams.Streams)
	}
	if o.Shown == nil {
		o.Shown = new(ownership.Shown)
	}
	if o.Load == nil {
		o.Load = new(overload.Ladder)
	}
	o.StreamConfig.Defaults()
	if o.Hub == nil {
		o.Hub = stream.NewHub(stream.HubOptions{Config: o.StreamConfig, Limits: StreamLimits(o.Server)})
	}
	p := &Proxy{Options: o, extra: o.Book.Extra(), offered: make(map[string]ext.Declared, len(o.Providers))}
	if o.Signing != nil {
		p.signer = signature.NewSigner(o.Signing, o.PublicURL.String()+jwksPath)
	}
	p.hidden = p.extra.Asked(intake.NoExtension)
	p.here = [2][]string{{"1.1 " + o.Server.ID}, {"2.0 " + o.Server.ID}}
	for uri, provider := range o.Providers {
		p.offered[uri] = provider.Declared()
	}
	p.origins = agents.OriginsOf(o.Agents)
	p.prefix = intake.Prefix{Public: o.PublicURL.Path, Here: o.Server.BasePath}
	if err := p.index(); err != nil {
		return nil, err
	}
	p.browse = newBrowse(p)
	p.mountStages()
	governed := p.governed()
	call := p.recorder.Do(slices.Insert(governed, 0, p.decoder.Locate)...)   // which agent and binding, by host and path?
	rpc := p.recorder.Do(slices.Insert(governed, 0, p.decoder.LocateRPC)...) // the same over gRPC
	card := p.recorder.Do(p.decoder.Locate, p.authorizer.Identify, p.documents.ServeCard)
	metadata := p.recorder.Do(p.documents.ServeMetadata)
	keys := p.recorder.Do(p.documents.ServeKeys)
	notified := p.recorder.Do(p.forwarder.Notified)
	lost := p.recorder.Do(p.decoder.Locate, p.decoder.Nowhere)
	p.asterisk = p.recorder.Do(p.decoder.ServeOptions)
	p.stray = p.recorder.Do(p.decoder.Strayed)
	var preflight record.Handler
	if o.Server.CORS != nil {
		preflight = p.recorder.Do(p.frontend.ServePreflight(p.frontend.PageFields()))
	}

	p.main, p.home, p.hosted = newRoutes(lost), newRoutes(lost), newRoutes(lost)
	for _, t := range []*intake.Routes{p.main, p.home} {
		t.Mount(exchange.AgentsPath+"{agent}", call, card)
		t.Fix(exchange.SharedPath, call)
		t.Below(exchange.SharedPath+"/", false, call)
		t.Below(exchange.MetadataPath+exchange.AgentsPath, true, metadata)
		p.mountCatalog(t)
	}
	p.home.Mount("", call, card)
	p.hosted.Mount("", call, card)
	for _, t := range []*intake.Routes{p.main, p.home, p.hosted} {
		t.Fix(jwksPath, keys)
		t.Fix(exchange.MetadataPath, metadata)
		p.mountPush(t, notified)
		p.mountRPC(t, rpc)
		t.Preflight = preflight
	}
	return p, nil
}

// governed is the request path behind locate: each stage answers one question, or ends the call
// with an error that refusal.go makes an answer of. Order matters: nothing of a body is read
// before the caller is known, nothing tells whether a task exists before it is known whose it is,
// and nothing reaches an agent before the record of it is written.
func (p *Proxy) governed() []record.Stage {
	return []record.Stage{
		p.admissions.Admit,           // is there room for one more call?
		p.authenticator.Authenticate, // who is calling?
		p.admissions.FairShare,       // do they have more than their share of an overloaded gateway?
		p.authorizer.Decode,          // which method, task, context and skill, in which version; which interface is called?
		p.throttling.Throttle,        // did they do something unusual before?
		p.owners.CheckOwnership,      // are the task, the context and the referenced tasks theirs?
		p.authorizer.Authorize,       // do rules, limits and authorizers allow it?
		p.inspector.Negotiate,        // which extensions are active, and does the call keep to them?
		p.authorizer.Adopt,           // are the ids that the caller made up the caller's alone?
		p.authorizer.Record,          // is the intent in the audit log?
		p.deduper.WithDedupe(p.sessions.WithVersionFallback(p.sessions.Forward)), // was it answered before; else what does the agent answer?
	}
}

// mountPush adds where agents deliver notifications, where they are relayed.
func (p *Proxy) mountPush(t *intake.Routes, notified record.Handler) {
	if p.Relay != nil {
		t.Below(push.Path, false, notified)
	}
}

// mountRPC adds gRPC's paths, which are the same for every agent.
func (p *Proxy) mountRPC(t *intake.Routes, rpc record.Handler) {
	for _, service := range wire.Services() {
		t.Below("/"+service+"/", false, rpc)
		t.Rpcs["/"+service+"/"] = true
	}
	for _, path := range p.extra.RPCs() {
		t.Fix(path, rpc)
		t.Rpcs[path] = true
	}
	if p.System != nil {
		for _, service := range systemServices {
			t.Below("/"+service+"/", false, p.decoder.ServeSystem)
			t.Rpcs["/"+service+"/"] = true
		}
	}
}

// ServeHTTP routes by host first: on a host of its own, an agent has the root.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "*" && r.Method == http.MethodOptions {
		p.asterisk(w, r, exchange.Site{Fixed: "*"})
		return
	}
	to := p.main
	if host, ok := server.CanonicalHost(r.Host); ok {
		if a, shared := p.decoder.At(host); a != nil && shared {
			to = p.home
		} else if a != nil {
			to = p.hosted
		}
	}
	if to == p.hosted || p.prefix.None() {
		to.Serve(w, r, intake.Written(r))
		return
	}
	r, path, ok := p.prefix.Inside(r, to)
	if !ok {
		p.stray(w, r, exchange.Site{})
		return
	}
	to.Serve(w, r, path)
}

// Stands implements openstreams.Judge.
func (p *Proxy) Stands(q policy.Request, shared bool) error { return p.recorder.Stands(q, shared) }

// Keep implements openstreams.Keeper, of the ledger, the states of extensions and webhooks.
func (p *Proxy) Keep(ctx context.Context, principal *authn.Principal, ids *ledger.Uses, steps []state.Step) error {
	if err := p.Ledger.Renew(ctx, principal, ids); err != nil {
		return err
	}
	for _, step := range steps {
		if _, err := p.Steps.Advance(ctx, step, "", ""); err != nil {
			return err
		}
	}
	if p.Relay == nil {
		return nil
	}
	for _, task := range ids.Tasks {
		if err := p.Relay.Hooks.Renew(ctx, ids.Agent, task); err != nil {
			return err
		}
	}
	return nil
}
