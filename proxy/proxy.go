// Package proxy is the request path: it asks who is calling, what they ask,
// whether they may, with which extensions, leaves a record, and forwards.
//
// This file is the one to read first. A route is a list of stages; each stage answers one
// question about an exchange (package exchange) or refuses it with an error; Do of package
// record runs them, and is the only place where an error becomes a response. Each stage is a
// method of a struct in a package of its own, and is made in stages.go of what it depends on:
// those before it, and its part of [Options]. In their order: admit, negotiate, webhooks and
// cursors; record; intake; ownership and wellknown; inspect and notifications; forward;
// authorize and tasklist; session; dedupe. A package imports those before it, never one behind.
//
// The package owns the order of the questions and the URLs of the public listener. It does not
// own the answers: they come from authn, policy, policy/ledger and ext, which do not know each
// other; the stages carry values between them.
//
// # Four requests
//
// A message/send over JSON-RPC, POST /agents/billing:
//
//	ServeHTTP      by host: the gateway's own, or an agent's
//	Routes.Serve   /agents/{agent} with POST: the handler call
//	Locate         host, agent, binding; nothing of the body has been read
//	governed()     Admit … Record, as listed below; each may refuse
//	Forward        the agent answers, package forward reads and passes the answer on
//	finish         audit outcome, span, metrics, access log
//
// A message/stream takes the same way; Forward finds text/event-stream in the agent's answer, and
// package session makes a feed of it (proxy/stream) that the client follows. The handler returns
// at the first pause of the stream.
//
// A tasks/resubscribe, or any streaming call with Last-Event-ID: Forward looks for the task's
// feed here and in the shared log before it asks the agent.
//
// A push delivery of an agent, POST /push/<token>: the handler notified has one stage,
// ServeNotification of package forward, which asks package notifications whose it is and queues
// it. A Worker of proxy/push delivers it later, and asks StillFor before it does.
//
// # What the stages share
//
// Each has the exchange and nothing else; a stage that needs what another has found out reads it
// there. The parts of the exchange are named after the stages that fill them in, and each
// package's doc says what it leaves. A stage returns an error and never writes a response, but
// for those that serve one.
//
//	Locate, Decode    Agent, Call, View, Endpoint
//	Authenticate      Principal
//	CheckOwnership    Record, Contexts
//	Authorize         Skill, Decision, LimitPass
//	Negotiate         Terms, Shown
//	Adopt, Record     Reserved, Captured
//	Forward           Upstream, Writer
//
// # Reloads
//
// A Proxy is made for one configuration. What must survive a reload (Hub, Streams, Shown, Ledger,
// Load) comes with Options from internal/gateway, and is shared by the Proxy of before, which
// goes on serving the requests that it has begun.
package proxy

import (
	"context"
	"net/http"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
)

// Proxy serves one configuration and never changes; a reload makes a new one.
//
// Nothing of it changes after New, so that requests read it without a lock. The maps are indexes
// over Options.Agents.
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
	tool      record.Handler           // of calls that the server of MCP makes for its callers
	approved  [2]record.Handler        // of calls that people have agreed to, those of gRPC second
	home      *intake.Routes           // both, on a host of the gateway's that is an agent's as well
	hosted    *intake.Routes           // an agent at the root of a host of its own
	prefix    intake.Prefix            // of paths on the gateway's own hosts
	stray     record.Handler           // of those that do not begin with it
}

// New wires a Proxy.
//
// Its errors are about the configuration, naming the key: an id or a host that two agents have, a
// header that carries credentials among those that are passed on.
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
	p.tool = p.recorder.Do(slices.Concat([]record.Stage{p.decoder.Locate, p.introduce}, governed[admitted:])...)
	p.approved = p.mountApproved(governed)
	card := p.recorder.Do(p.decoder.Locate, p.authorizer.Identify, p.documents.ServeCard)
	metadata := p.recorder.Do(p.documents.ServeMetadata)
	keys := p.recorder.Do(p.documents.ServeKeys)
	notified := p.recorder.Do(p.forwarder.ServeNotification)
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
		p.mountTools(t)
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
// with an error that package record makes an answer of. Order matters: nothing of a body is read
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
		// Was it answered before? Do people have to agree first? Else what does the agent answer?
		p.deduper.WithDedupe(p.approver.WithApproval(p.sessions.WithVersionFallback(p.sessions.Forward))),
	}
}

// admitted is how many stages of governed a request to the server of MCP passes before it becomes a
// call, which passes the rest: it is let in once, and counts once.
const admitted = 3

// mountPush adds where agents deliver notifications, where they are relayed.
func (p *Proxy) mountPush(t *intake.Routes, notified record.Handler) {
	if p.Relay != nil {
		t.Below(push.Path, false, notified)
	}
}

// mountRPC adds gRPC's paths, which are the same for every agent.
//
// The reflection and health services are served by Options.System, and only where there is one.
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
//
// A host that is the gateway's and an agent's as well has the gateway's own paths first. What is
// at no path is served too: by a handler that refuses in A2A's shape and leaves a record.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "*" && r.Method == http.MethodOptions {
		p.asterisk(w, r, exchange.Site{Fixed: "*"})
		return
	}
	to := p.main
	if host, ok := hostname.Canonical(r.Host); ok {
		if a, shared := p.decoder.AgentAt(host); a != nil && shared {
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

// CardFor is the card of an agent as it is served to a caller, nil for one who shows no
// credential, whose request names the version, or none if that is "", and the form that it
// is in. It is nil without an error where there is none for this caller: the agent is not
// there for them. The error is that there is no card to serve.
func (p *Proxy) CardFor(who *authn.Principal, agent string, version wire.Version) ([]byte, card.Form, error) {
	return p.documents.CardFor(who, agent, version)
}

// StillFor reports whether the owner of a webhook may still hear of its task, under the
// configuration and the keys of now: the agent is there, the owner would be let in, and
// may read the task, register a webhook for it, or send to its skill. That is as much as
// can be asked without a call: conditions on a message count as met. An error that wraps
// push.ErrForbidden says no, any other that it cannot be told.
func (p *Proxy) StillFor(h *push.Webhook) error { return p.notifications.StillFor(h) }
