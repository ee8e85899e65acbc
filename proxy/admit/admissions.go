// Package admit decides whether a call is taken in at all: by the load of the process, by the
// caller's fair share, by who the caller is, and by what anomalies throttle. [Admissions],
// [Authenticator] and [Throttling] are stages of the request path (see package proxy); what they
// find out stands in the exchange.
//
//	| stage | refuses with | leaves in the exchange |
//	| Admit | 503, Retry-After | Admitted: the call counts as in flight |
//	| Authenticate | 401 with WWW-Authenticate (RFC 9110 §11.6.1), 429 after many bad credentials | Principal |
//	| FairShare | 503 | Counted: the call counts for its caller |
//	| Throttle | 429 | |
//
// Recorder.finish gives back what they have taken, by Discharge, whatever became of the call.
package admit

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Admissions is overload control at the entrance: it counts the calls in flight and the memory
// of large bodies, and refuses calls there is no room for (internal/overload).
type Admissions struct {
	Load   *overload.Ladder
	Server *server.Config
}

// Admit counts a call as one in flight, or refuses it with 503. It comes before everything that
// takes time: an overloaded gateway that looked at every call first would do nothing else.
func (ad *Admissions) Admit(x *exchange.Exchange) error {
	if err := ad.Load.Enter(ad.Server.Limits.Requests); err != nil {
		return err
	}
	x.Admitted = true
	return nil
}

// FairShare refuses a call of a caller who asks for more than a fair share of the processor while
// calls wait for it, or who has more calls in flight than there are places left (load
// shedding). It comes once the caller is known, and before anything of the body is read.
func (ad *Admissions) FairShare(x *exchange.Exchange) error {
	if err := ad.Load.Spare(x.Principal.Key()); err != nil {
		return err
	}
	if err := ad.Load.EnterAs(x.Holder(), ad.Server.Limits.Requests); err != nil {
		return err
	}
	x.Counted = true
	return nil
}

// MakeRoom takes a body of n bytes on, or refuses it while memory is short.
func (ad *Admissions) MakeRoom(x *exchange.Exchange, n int64) error {
	if n <= int64(ad.Server.Limits.LargeBody) {
		return nil
	}
	if err := ad.Load.Hold(x.Holder(), n); err != nil {
		return err
	}
	x.Bulk = n
	return nil
}

// Discharge ends what admit, fairShare and makeRoom have begun. A stream ends it early: it has a
// place of its own among the streams.
func (ad *Admissions) Discharge(x *exchange.Exchange) {
	if x.Admitted {
		x.Admitted = false
		ad.Load.Leave()
	}
	if x.Counted {
		x.Counted = false
		ad.Load.LeaveAs(x.Holder())
	}
	if x.Bulk > 0 {
		ad.Load.Drop(x.Holder(), x.Bulk)
		x.Bulk = 0
	}
}

// HostOf is the host of a link, lower-cased and without a port. What cannot be read is
// nobody's.
func HostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.User != nil { // https://good.example@evil.example
		return "?"
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// Leads reports whether links to a host are permitted.
func (au *Authenticator) Leads(a *agents.Agent, host string) bool {
	switch {
	case len(a.Authorization.Hosts) == 0:
		return true
	case !agents.ASCII(host): // clients disagree about what such a name is in DNS
		return false
	}
	for _, h := range a.Authorization.Hosts {
		h = strings.ToLower(h)
		domain, wild := strings.CutPrefix(h, "*")
		if !wild && host == HostOf("https://"+h) || wild && strings.HasSuffix(host, domain) && len(host) > len(domain) {
			return true
		}
	}
	return slices.ContainsFunc(au.Authn.Issuers(), func(i string) bool { return HostOf(i) == host })
}

// NoCard is what a stranger and a caller are told about an agent that is not
// there for them.
func (au *Authenticator) NoCard(x *exchange.Exchange) error {
	if x.Principal == nil {
		_, err := au.Authn.Authenticate(x.Request)
		if err != nil {
			return err
		}
	}
	return agents.ErrUnknown
}

// Caller is what the agent's credentials may depend on; nil where they depend on nothing.
func (au *Authenticator) Caller(x *exchange.Exchange, l *exchange.UpstreamCall) *upstream.Caller {
	if !x.Agent.Upstream.Asks() {
		return nil
	}
	c := &upstream.Caller{
		Principal: x.Principal, Header: x.Request.Header, Agent: x.Agent.ID, Target: l.URL, Shared: au.Origins.Others(l.URL, x.Agent.ID), Method: l.Call.Method.Name,
		Task: l.Call.TaskID, Context: l.Call.ContextID, Extensions: x.Terms.Send, Demanded: l.Shows,
	}
	c.Token = au.Authn.Token(x.Principal, x.Request.Header)
	if x.Principal.Workload != nil {
		c.Workload = au.Authn.Token(x.Principal.Workload, x.Request.Header)
	}
	switch {
	case x.Skill != "":
		c.Skills = []string{x.Skill}
	case !x.Agentwide:
		c.Skills = x.View.Skills // all of them had to be allowed
		if x.Decision.Skills != nil {
			c.Skills = x.Decision.Skills // one was enough
		}
	}
	return c
}

// Metadata is the RFC 9728 document. It has no jwks_uri: that is for keys that a
// resource signs its answers with, and the gateway's sign what it says to agents. It
// has no scopes_supported: they would tell strangers of rules.
type Metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name"`

	// Absent means false.
	Certificates bool     `json:"tls_client_certificate_bound_access_tokens,omitzero"`
	Proofs       []string `json:"dpop_signing_alg_values_supported,omitempty"`
	NeedsProof   bool     `json:"dpop_bound_access_tokens_required,omitzero"`
}

// About is the document of a resource. How tokens are taken is the same everywhere, and
// says nothing about which agents exist.
func (au *Authenticator) About(resource string) Metadata {
	tokens := au.Authn.Usage()
	m := Metadata{Resource: resource, Servers: tokens.Issuers, Name: "a2a-gateway", Proofs: tokens.Proofs}
	if tokens.Bearer {
		m.Methods = []string{"header"}
	}
	m.Certificates = len(tokens.Issuers) > 0 && au.Server.TLS != nil && au.Server.TLS.AsksClients()
	m.NeedsProof = tokens.Bound && !m.Certificates // else a certificate would do
	return m
}
