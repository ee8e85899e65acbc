package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
)

// authenticate: who is calling?
func (p *Proxy) authenticate(x *exchange) error {
	principal, err := p.Authn.Authenticate(x.r)
	if err != nil {
		return err
	}
	x.principal = principal
	return nil
}

// identify is authenticate for public documents: a caller without credentials,
// or with ones that are no longer good, is a stranger, not an error.
func (p *Proxy) identify(x *exchange) error {
	principal, err := p.Authn.Authenticate(x.r)
	var refused *authn.Refused
	switch {
	case err == nil:
		x.principal = principal
	case errors.Is(err, authn.ErrNoCredentials), errors.As(err, &refused), errors.Is(err, authn.ErrUnavailable):
		if x.agent == nil || x.agent.Card.Visibility != "" && x.agent.Card.Visibility != card.Public {
			return err
		}
	default:
		return err
	}
	return nil
}

// decode: what is asked? It reads the body, settles the version and finds the
// agent's interface that speaks the same version and binding.
func (p *Proxy) decode(x *exchange) error {
	body, e := p.readBody(x)
	if e != nil {
		return e
	}
	x.body = body
	var query url.Values // parsing an empty one would still cost a map
	if x.r.URL.RawQuery != "" {
		query = x.r.URL.Query()
	}
	version, e := wire.RequestVersion(x.r.Header, query)
	if e != nil {
		if x.call.Binding == wire.JSONRPC {
			_ = x.call.DecodeJSONRPC(body.bytes(), "", p.decodeLimits()) // for the caller's id
		}
		return e
	}
	if x.call.Binding == wire.JSONRPC {
		if !wire.MediaType(x.r.Header.Get("Content-Type")) {
			return wire.Errorf(wire.ContentType, "send Content-Type: application/json")
		}
		e = x.call.DecodeJSONRPC(body.bytes(), version, p.decodeLimits())
	} else {
		if len(body.bytes()) > 0 && !wire.MediaType(x.r.Header.Get("Content-Type")) {
			return wire.Errorf(wire.ContentType, "send Content-Type: application/json or application/a2a+json")
		}
		e = x.call.DecodeHTTP(x.route, query, body.bytes(), version, p.decodeLimits())
	}
	x.rec.RequestBytes = int64(len(body.bytes()))
	if e != nil {
		return e
	}
	// Only now, with the caller's id known for the answer, is it time to say that
	// there is no such agent, in the same words for one that does not exist and
	// for one this caller has no business with.
	if x.agent == nil || !x.principal.MayUse(x.agent.ID) || !p.Policy.Sees(x.principal, x.agent.ID) {
		return errUnknownAgent
	}
	return x.connect()
}

// connect picks the agent's interface for the call's binding and version.
func (x *exchange) connect() error {
	x.view = x.agent.look()
	if x.view == nil {
		return errNotReady
	}
	if x.skill != "" && !slices.Contains(x.view.skills, x.skill) {
		return errUnknownAgent // the path names a skill that is not there
	}
	var spoken []string
	stranger := false
	for i := range x.view.endpoints {
		e := &x.view.endpoints[i]
		switch {
		case e.binding != x.call.Binding:
		case e.version != x.call.Version:
			spoken = append(spoken, string(e.version))
		case e.tenant != x.call.Tenant:
			stranger = true // another interface may be the tenant's
		default:
			x.endpoint = e
			return nil
		}
	}
	switch {
	case stranger:
		return wire.Errorf(wire.InvalidParams, "tenant does not match the agent's interface")
	case spoken == nil:
		return wire.Errorf(wire.MethodNotFound, "the agent does not offer %s", x.call.Binding)
	}
	slices.Sort(spoken)
	offered := strings.Join(slices.Compact(spoken), ",")
	// In the message too: before 1.0, JSON-RPC errors carry no metadata.
	e := wire.Errorf(wire.VersionUnsupported, "the agent does not speak A2A %s, only %s", x.call.Version, offered)
	e.Meta = map[string]string{"supportedVersions": offered}
	return e
}

// own: are the task, the context and the referenced tasks the caller's?
func (p *Proxy) own(x *exchange) error {
	record, err := p.Ledger.Check(x.ctx, x.principal, x.agent.ID, &x.call)
	var other *ledger.ForeignContext
	if errors.As(err, &other) || errors.Is(err, ledger.ErrAbsent) && x.inOtherContext() {
		return p.replaceContext(x)
	}
	x.record = record
	return err
}

// authorize: may they? It resolves the skill, then asks the rules.
func (p *Proxy) authorize(x *exchange) error {
	skill, agentwide, err := p.Policy.Resolve(policy.SkillSource{
		Path: x.skill, Task: x.record.Skill, Declared: x.call.Skill, All: x.view.skills,
		Method: x.call.Method, Principal: x.principal, Agent: x.agent.ID,
	})
	if err != nil {
		return err
	}
	x.skill, x.agentwide = skill, agentwide
	x.decision, err = p.Policy.Check(policy.Request{
		Principal: x.principal, Agent: x.agent.ID, Method: x.call.Method,
		Skill: skill, Skills: x.view.skills, Agentwide: agentwide,
	})
	if err != nil {
		return err
	}
	if !p.Push.passes() && (x.call.Method.Push || x.call.HasPushConfig) {
		return wire.Errorf(wire.PushUnsupported, "")
	}
	// An agent without the capability may still answer with what was never meant
	// to be read, so its card is believed. Streaming is not held to the card in
	// the same way: nothing leaks, and an agent that can or cannot says so itself.
	if x.call.Method.Name == wire.GetExtendedAgentCard && !x.view.card.Extended {
		return wire.Errorf(wire.Unsupported, "")
	}
	return nil
}

// negotiate: which extensions are active?
func (p *Proxy) negotiate(x *exchange) error {
	asked, names, err := ext.Requested(x.r.Header, ext.Limits{})
	if err != nil {
		return wire.Errorf(wire.InvalidRequest, "%s", err).Because(err)
	}
	x.asked, x.names = asked, names
	x.active, err = ext.Negotiate(asked, x.view.extensions, x.agent.Extensions)
	return err
}

// record: the audit intent is on disk, or nothing is forwarded.
func (p *Proxy) record(x *exchange) error {
	x.describe()
	x.rec.Digest = digest(x.call.Body)
	x.rec.Endpoint = x.endpoint.address
	if err := p.Audit.Intent(&x.rec); err != nil && !p.FailOpen {
		return fmt.Errorf("%w: %w", errNotRecorded, err)
	}
	return nil
}
