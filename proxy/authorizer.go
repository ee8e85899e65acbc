package proxy

import (
	"fmt"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// authorizer asks rules, limits and authorizers whether a call may be made, and writes the intent down.
type authorizer struct {
	*authenticator
	*cursors
	*extensionRules
	*throttling
	*frontend
	*decoder
	*owners
	*inspector
	*notifications

	Audit    *audit.Log
	FailOpen bool
	Limits   *limits.Limiter
	Panel    *pdp.Panel
	Policy   *policy.Set
	Streams  *openstreams.Streams
}

// identify is authenticate for public documents: a caller without credentials,
// or with ones that are no longer good, is a stranger, not an error.
func (az *authorizer) identify(x *exchange) error {
	public := x.agent != nil && x.agent.Public()
	return az.greet(x, public)
}

// decode: what is asked, and of whom? It reads the body, settles the version,
// finds the agent where the path did not name it, and the interface to call.
func (az *authorizer) decode(x *exchange) error {
	body, err := az.readBody(x)
	if err != nil {
		return err
	}
	x.body = body
	x.rec.RequestBytes = int64(len(body.Bytes()))
	if e := az.read(x); e != nil {
		return az.misread(x, e)
	}
	// Only now, with the caller's id known for the answer, is it time to say that
	// there is no such agent.
	if err := az.meet(x); err != nil {
		return err
	}
	if err := az.hops(x); err != nil {
		return err
	}
	if err := az.recognise(x); err != nil {
		return err
	}
	if err := az.checkExtensionMethod(x); err != nil {
		return err
	}
	return x.connect()
}

// meet makes sure of the agent, in the same words for one that does not exist and for
// one this caller has no business with.
func (in *inspector) meet(x *exchange) error {
	if x.shared {
		if err := in.nameAgent(x); err != nil {
			return err
		}
	}
	if x.agent == nil || !x.principal.MayUse(x.agent.ID) || !in.Policy.Sees(x.principal, x.agent.ID) {
		return agents.ErrUnknown
	}
	return nil
}

// read decodes the body by the binding.
func (in *inspector) read(x *exchange) *wire.Error {
	body := x.body.Bytes()
	if x.mayBeEnvelope() {
		if wire.IsEnvelope(body) {
			unwrapEnvelope(x)
		} else if x.route.Method == nil {
			return notAllowed(x.route.Allow)
		}
	}
	var query url.Values // parsing an empty one would still cost a map
	if x.r.URL.RawQuery != "" {
		query = x.r.URL.Query()
	}
	version, e := wire.RequestVersion(x.r.Header, query)
	if e != nil {
		if x.call.Binding == wire.JSONRPC {
			_ = x.call.DecodeJSONRPC(body, "", in.decodeLimits()) // for the caller's id
		}
		x.call.Version = wire.V10 // whose word it is for a version that nobody here speaks
		return e
	}
	if version != "" {
		x.call.Spelled = wire.SpelledVersion(x.r.Header, query)
	}
	json := wire.MediaType(x.r.Header.Get("Content-Type"))
	switch x.call.Binding {
	case wire.GRPC:
		return in.decodeRPC(x, version)
	case wire.JSONRPC:
		if !json {
			return wire.Errorf(wire.ContentType, "send Content-Type: application/json")
		}
		return x.call.DecodeJSONRPC(body, version, in.decodeLimits())
	}
	if len(body) > 0 && !json {
		return wire.Errorf(wire.ContentType, "send Content-Type: application/json or application/a2a+json")
	}
	return x.call.DecodeHTTP(x.route, query, body, version, in.decodeLimits())
}

// authorize: may they? It resolves the skill, then asks the rules.
func (az *authorizer) authorize(x *exchange) error {
	if err := az.gatherConditions(x); err != nil {
		return err
	}
	own, err := az.authorizeMethod(x)
	if err != nil {
		return err
	}
	source := policy.SkillSource{
		Path: x.skill, Task: x.record.Skill, Extension: own,
		Declared: x.call.Skill, All: x.view.Skills,
		Method: x.call.Method, Principal: x.principal, Agent: x.agent.ID,
	}
	if x.agent.Match != nil {
		q := x.request()
		source.Match, source.Call = x.agent.Match, &q
	}
	skill, agentwide, err := az.Policy.Resolve(source)
	if err != nil {
		return err
	}
	x.skill, x.agentwide = skill, agentwide
	x.decision, err = az.Policy.Check(x.request())
	if err != nil {
		return err
	}
	if err := az.beside(x); err != nil {
		return err
	}
	if err := az.modes(x); err != nil {
		return err
	}
	if err := az.mayPush(x); err != nil {
		return err
	}
	// An agent without the capability may still answer with what was never meant
	// to be read, so its card is believed. Streaming is not held to the card in
	// the same way: nothing leaks, and an agent that can or cannot says so itself.
	if x.call.Method.Name == wire.GetExtendedAgentCard && !x.view.Card.Extended {
		return wire.Errorf(wire.Unsupported, "")
	}
	if err := az.throttleSkill(x); err != nil {
		return err
	}
	if err := az.spend(x); err != nil {
		return err
	}
	return az.askAuthorizers(x)
}

// authorizeMethod finds the skill that an extension's method needs. On a task that was
// made for another skill the caller needs both: the method's is asked for here, the
// task's is the call's then.
func (er *extensionRules) authorizeMethod(x *exchange) (skill string, err error) {
	skill = er.book.Skill(x.call.Method)
	if skill == "" || x.record.Skill == "" || skill == x.record.Skill {
		return skill, nil
	}
	q := x.request()
	q.Skill = skill
	_, err = er.policy.Check(q)
	return "", err
}

// record: the audit intent is on disk, or nothing is forwarded.
func (az *authorizer) record(x *exchange) error {
	x.describe()
	if x.rec.Digest = buffers.Digest(x.call.Body); x.opaque() {
		x.rec.Digest = buffers.Digest(x.call.Message)
	}
	x.rec.Endpoint, x.rec.Credentials = x.endpoint.Address, x.agent.Upstream.Shown()
	if !x.alike(x.endpoint.Side) {
		x.rec.TranslatedTo = x.endpoint.String()
	}
	if err := az.Audit.Intent(&x.rec); err != nil && !az.FailOpen {
		return fmt.Errorf("%w: %w", errNotRecorded, err)
	}
	x.captured = az.Audit.Capture(x.agent.ID, x.skill, x.call.Params)
	return nil
}
