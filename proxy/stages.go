package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/approve"
	"github.com/a2a-gateway/a2a-gateway/proxy/authorize"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/dedupe"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/session"
	"github.com/a2a-gateway/a2a-gateway/proxy/tasklist"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
)

// stages are the structs whose methods are the request path, each made of what it depends on:
// those before it, and parts of Options. None knows those behind it.
//
// Their order here is that in which they are made, which is not that of the request path: see
// governed.
type stages struct {
	admissions     *admit.Admissions
	authenticator  *admit.Authenticator
	extensionRules *negotiate.ExtensionRules
	webhooks       *webhooks.Webhooks
	cursors        *cursors.Cursors
	throttling     *admit.Throttling

	recorder      *record.Recorder
	frontend      *intake.Frontend
	decoder       *intake.Decoder
	owners        *ownership.Owners
	cardViews     *wellknown.CardViews
	hooks         *inspect.Hooks
	answerStore   *dedupe.AnswerStore
	inspector     *inspect.Inspector
	notifications *notifications.Notifications
	forwarder     *forward.Forwarder
	authorizer    *authorize.Authorizer
	lister        *tasklist.Lister
	sessions      *session.Sessions
	approver      *approve.Holder
	deduper       *dedupe.Deduper
	documents     *wellknown.Documents
}

// mountStages gives each stage what it depends on, and nothing else.
//
// Each gets the parts by name, so that what a stage can reach is visible here. They are values
// for the life of the Proxy and hold no state of a request.
func (p *Proxy) mountStages() {
	p.admissions = &admit.Admissions{Load: p.Load, Server: &p.Server}
	p.authenticator = &admit.Authenticator{Authn: p.Authn, Server: &p.Server, Origins: p.origins}
	p.extensionRules = &negotiate.ExtensionRules{Book: p.Book, Steps: p.Steps, Offered: p.offered, Policy: p.Policy}
	p.webhooks = &webhooks.Webhooks{Relay: p.Relay, Telemetry: p.Telemetry, PublicURL: p.PublicURL}
	p.cursors = &cursors.Cursors{Sealer: p.Sealer}
	p.throttling = &admit.Throttling{Anomalies: p.Anomalies, Telemetry: p.Telemetry}
	p.mountRequests()
	p.mountAnswers()
}

// mountRequests makes the stages that read calls and what they bring.
func (p *Proxy) mountRequests() {
	p.recorder = &record.Recorder{
		Admissions: p.admissions, Throttling: p.throttling, Anomalies: p.Anomalies, Audit: p.Audit, Authn: p.Authn,
		Book: p.Book, Policy: p.Policy, PublicURL: p.PublicURL, Server: &p.Server, Streams: p.Streams,
		Telemetry: p.Telemetry, Agents: p.agents, Extra: p.extra, Hosts: p.hosts, Self: p.self,
	}
	p.frontend = &intake.Frontend{
		Authenticator: p.authenticator, Authn: p.Authn, PublicURL: p.PublicURL, Push: p.Push, Relay: p.Relay,
		Server: &p.Server, Agents: p.agents, Here: p.here, Hosts: p.hosts, Prefix: p.prefix, Relied: p.relied,
		Self: p.self,
	}
	p.decoder = &intake.Decoder{
		Admissions: p.admissions, Authenticator: p.authenticator, ExtensionRules: p.extensionRules,
		Recorder: p.recorder, Frontend: p.frontend, Drain: p.Drain, Ledger: p.Ledger, Policy: p.Policy,
		Server: &p.Server, Steps: p.Steps, System: p.System, Agents: p.agents, Extra: p.extra, Hidden: p.hidden,
		Hosts: p.hosts, Prefix: p.prefix, Self: p.self, Sole: p.sole,
	}
	p.owners = &ownership.Owners{
		Authenticator: p.authenticator, Webhooks: p.webhooks, Frontend: p.frontend, Decoder: p.decoder, Hub: p.Hub,
		Ledger: p.Ledger, Salt: p.Salt, Shown: p.Shown, Approvals: p.Approvals.Store, StreamConfig: p.StreamConfig, Telemetry: p.Telemetry,
	}
	p.cardViews = &wellknown.CardViews{
		ExtensionRules: p.extensionRules, Frontend: p.frontend, Book: p.Book, GRPC: p.GRPC, Policy: p.Policy,
		PublicURL: p.PublicURL, Schemes: p.Schemes, Offered: p.offered, Signer: p.signer,
	}
	p.hooks = &inspect.Hooks{
		ExtensionRules: p.extensionRules, Decoder: p.decoder, CardViews: p.cardViews, Providers: p.Providers,
		Server: &p.Server,
	}
	p.answerStore = &dedupe.AnswerStore{
		Sealer: p.Sealer, Telemetry: p.Telemetry, Values: p.Values,
	}
	p.inspector = &inspect.Inspector{
		ExtensionRules: p.extensionRules, Frontend: p.frontend, Decoder: p.decoder, Owners: p.owners,
		CardViews: p.cardViews, Hooks: p.hooks, Book: p.Book, Ledger: p.Ledger, Policy: p.Policy, Steps: p.Steps,
		FileRules: p.fileRules, Guards: p.Guards, Hidden: p.hidden,
	}
}

// mountAnswers makes those that send calls, and pass answers and streams on.
func (p *Proxy) mountAnswers() {
	p.notifications = &notifications.Notifications{
		Webhooks: p.webhooks, Frontend: p.frontend, Decoder: p.decoder, Owners: p.owners, Authn: p.Authn,
		Ledger: p.Ledger, Policy: p.Policy, PublicURL: p.PublicURL, Relay: p.Relay, Telemetry: p.Telemetry,
		Agents: p.agents,
	}
	p.forwarder = &forward.Forwarder{
		Webhooks: p.webhooks, Frontend: p.frontend, Decoder: p.decoder, Owners: p.owners, Inspector: p.inspector,
		Notifications: p.notifications, Relay: p.Relay, Server: &p.Server, Telemetry: p.Telemetry,
	}
	p.authorizer = &authorize.Authorizer{
		Authenticator: p.authenticator, Cursors: p.cursors, ExtensionRules: p.extensionRules, Throttling: p.throttling,
		Frontend: p.frontend, Decoder: p.decoder, Owners: p.owners, Inspector: p.inspector,
		Notifications: p.notifications, Audit: p.Audit, FailOpen: p.FailOpen, Limits: p.Limits, Panel: p.Panel,
		Policy: p.Policy, Streams: p.Streams,
	}
	p.lister = &tasklist.Lister{
		Cursors: p.cursors, Recorder: p.recorder, Decoder: p.decoder, Owners: p.owners, Inspector: p.inspector,
		Forwarder: p.forwarder, Ledger: p.Ledger, Server: &p.Server, Approvals: p.Approvals.Store,
	}
	p.sessions = &session.Sessions{
		Admissions: p.admissions, Cursors: p.cursors, ExtensionRules: p.extensionRules, Recorder: p.recorder,
		Webhooks: p.webhooks, Decoder: p.decoder, Owners: p.owners, Inspector: p.inspector, Forwarder: p.forwarder,
		Authorizer: p.authorizer, Lister: p.lister, Drain: p.Drain, Hold: p.Hold, Hub: p.Hub, Ledger: p.Ledger,
		Load: p.Load, Policy: p.Policy, Server: &p.Server, StreamConfig: p.StreamConfig, Streams: p.Streams,
		Telemetry: p.Telemetry,
	}
	p.approver = &approve.Holder{
		Admissions: p.admissions, Recorder: p.recorder, Decoder: p.decoder, Owners: p.owners, Authn: p.Authn,
		Ledger: p.Ledger, Server: &p.Server, Store: p.Approvals.Store, StreamConfig: p.StreamConfig, Streams: p.Streams,
		Drain: p.Drain, Begun: p.Approvals.Begun, May: p.Approvals.May, Follow: session.Following(p.sessions), Agents: p.agents,
	}
	p.deduper = &dedupe.Deduper{
		Recorder: p.recorder, AnswerStore: p.answerStore, Repeats: dedupe.Repeats{Flights: map[string]*dedupe.Flight{}},
	}
	p.documents = &wellknown.Documents{
		Authenticator: p.authenticator, Recorder: p.recorder, Frontend: p.frontend, Decoder: p.decoder,
		CardViews: p.cardViews, Agents: p.Agents, Authn: p.Authn, Catalog: p.Catalog, JWKS: p.JWKS, Policy: p.Policy,
		PublicURL: p.PublicURL, ByID: p.agents, Browse: p.browse,
	}
}
