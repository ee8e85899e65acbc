// Package authorize decides about a call: policy by skill, the external authorizers, the rate
// limits, and the adoption of a context for the caller.
//
// # The stages
//
//   - Identify: who reads a public document? strangers may. Refusals: 401 where the document is
//     not public.
//   - Decode: which method, task, skill and version; which agent and interface? Refusals: 400,
//     404, 413, 415, -32700 to -32600, -32601, VERSION_NOT_SUPPORTED.
//   - Authorize: which skill, and is it allowed? Refusals: 404 for agents one may not know of,
//     else 403, 401 (step-up), 429, CONTENT_TYPE_NOT_SUPPORTED.
//   - Adopt: are ids that the caller made up the caller's alone? Refusals: TASK_NOT_FOUND.
//   - Record: is the intent in the audit log? Refusals: 503, unless
//     telemetry.audit.onFailure is allow.
//
// Decode leaves the Call, the View of the agent's card and the Endpoint; Authorize leaves the
// Skill, the Decision (which rule, which extensions it permits), the LimitPass of what was drawn
// from limits and the authorizers' verdicts for the record; Adopt leaves Reserved; Record leaves
// the intent on disk and Captured.
//
// The order within Authorize is from cheap to dear, and from what tells least: rules need no
// network, limits draw from a store, authorizers are asked over HTTP or gRPC. A limit is drawn
// only for calls that the rules allow, so that refused calls cannot use up a caller's budget.
package authorize

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Authorizer asks rules, limits and authorizers whether a call may be made, and writes the intent
// down.
type Authorizer struct {
	*admit.Authenticator
	*cursors.Cursors
	*negotiate.ExtensionRules
	*admit.Throttling
	*intake.Frontend
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*notifications.Notifications

	Audit    *audit.Log
	FailOpen bool
	Limits   *limits.Limiter
	Panel    *pdp.Panel
	Policy   *policy.Set
	Streams  *openstreams.Streams
}

// Identify is the stage Authenticate for public documents: a caller without credentials,
// or with ones that are no longer good, is a stranger, not an error.
func (az *Authorizer) Identify(x *exchange.Exchange) error {
	public := x.Agent != nil && x.Agent.Public()
	return az.GreetCaller(x, public)
}

// Decode: what is asked, and of whom? It reads the body, settles the version,
// finds the agent where the path did not name it, and the interface to call.
//
// The hops are counted before anything is looked up: a loop through two gateways must end with
// the least work.
func (az *Authorizer) Decode(x *exchange.Exchange) error {
	body, err := az.ReadBody(x)
	if err != nil {
		return err
	}
	x.Body = body
	x.Rec.RequestBytes = int64(len(body.Bytes()))
	if e := az.ReadCall(x); e != nil {
		return az.RefuseMisread(x, e)
	}
	// Only now, with the caller's id known for the answer, is it time to say that
	// there is no such agent.
	if err := az.MeetAgent(x); err != nil {
		return err
	}
	if err := az.CheckHops(x); err != nil {
		return err
	}
	if err := az.RecogniseVersion(x); err != nil {
		return err
	}
	if err := az.CheckExtensionMethod(x); err != nil {
		return err
	}
	return x.Connect()
}

// Authorize: may they? It resolves the skill, then asks the rules.
func (az *Authorizer) Authorize(x *exchange.Exchange) error {
	if err := az.GatherConditions(x); err != nil {
		return err
	}
	own, err := az.AuthorizeMethod(x)
	if err != nil {
		return err
	}
	source := policy.SkillSource{
		Path: x.Skill, Task: x.Record.Skill, Extension: own,
		Declared: x.Call.Skill, All: x.View.Skills,
		Method: x.Call.Method, Principal: x.Principal, Agent: x.Agent.ID,
	}
	if x.Agent.Match != nil {
		q := x.PolicyRequest()
		source.Match, source.Call = x.Agent.Match, &q
	}
	skill, agentwide, err := az.Policy.Resolve(source)
	if err != nil {
		return err
	}
	x.Skill, x.Agentwide = skill, agentwide
	decision, err := az.Policy.Check(x.PolicyRequest())
	if x.Decide(decision, &x.Rec); err != nil {
		return err
	}
	if err := az.CheckNamedTasks(x); err != nil {
		return err
	}
	if err := az.CheckModes(x); err != nil {
		return err
	}
	if err := az.MayPush(x); err != nil {
		return err
	}
	// An agent without the capability may still answer with what was never meant
	// to be read, so its card is believed. Streaming is not held to the card in
	// the same way: nothing leaks, and an agent that can or cannot says so itself.
	if x.Call.Method.Name == wire.GetExtendedAgentCard && !x.View.Card.Extended {
		return wire.Errorf(wire.Unsupported, "")
	}
	if err := az.ThrottleSkill(x); err != nil {
		return err
	}
	if err := az.spend(x); err != nil {
		return err
	}
	return az.AskAuthorizers(x)
}

// Record: the audit intent is on disk, or nothing is forwarded.
func (az *Authorizer) Record(x *exchange.Exchange) error {
	x.Describe()
	if x.Opaque() {
		x.Rec.Digest = az.Audit.Digest(x.Call.Message)
	} else {
		x.Rec.Digest = az.Audit.Digest(x.Call.Body)
	}
	x.Rec.Endpoint, x.Rec.Credentials = x.Endpoint.Address, x.Agent.Upstream.Shown()
	if !x.Alike(x.Endpoint.Side) {
		x.Rec.TranslatedTo = x.Endpoint.String()
	}
	if err := az.Audit.Intent(&x.Rec); err != nil && !az.FailOpen {
		return fmt.Errorf("%w: %w", record.ErrNotRecorded, err)
	}
	x.Captured = az.Audit.Capture(x.Agent.ID, x.Skill, x.Call.Params)
	return nil
}
