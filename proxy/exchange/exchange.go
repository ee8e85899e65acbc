// Package exchange is one request on its way through the gateway: what each stage of the
// request path found out about it, and the response to its client.
//
// An [Exchange] is made of parts in the order of the stages that fill them in: the connection
// ([FromClient]), the agent ([Destination]), the parsed call ([ParsedCall]), whose task it is
// ([Ownership]), the decision ([Authorized]), the extensions ([Negotiation]), the upstream call
// ([Forwarding]), the client's stream ([StreamState]), and the record ([Recording]). The methods
// here are those that two or more stages call; none of them knows a stage.
//
// The package exports more than twenty names because each part is a type, and what two stages say
// alike about media types, paths, header fields and states has no other place below both.
package exchange

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Exchange is one request and everything the stages found out about it. It is passed
// explicitly and used by one goroutine, which is that of the request's handler until a stream
// leaves it (see package session). The comment on each field names the stage that sets it.
//
// Its parts stand in the order of the stages that fill them in. A method that needs one part
// alone is that part's.
type Exchange struct {
	FromClient
	Admission
	Destination
	ParsedCall

	Principal *authn.Principal // authenticate

	Ownership
	Authorized
	Negotiation
	Forwarding
	StreamState
	Recording
}

// Admission is what the call counts as among all calls: see internal/overload (admit, fairShare).
type Admission struct {
	Admitted bool   // admit; the call counts as one in flight
	Counted  bool   // fairShare; it counts among the caller's
	network  string // fairShare; that of an anonymous client; see Holder
	Bulk     int64  // decode; bytes of a large body that count as held
}

// Destination is whom the call is for: the agent, and what of it the path names (locate).
type Destination struct {
	Agent  *agents.Agent // locate; nil when the path or host names none that exists. On shared: decode
	Home   *agents.Agent // locate; on shared: whom a call is for that names no agent. nil if it has to name one
	Shared bool          // locate; neither path nor host says which agent is meant
	Named  bool          // decode; the tenant named the agent, and is not the agent's own
	View   *agents.View  // decode; the agent's card
	Rest   string        // locate; escaped path below the agent's base
	Skill  string        // locate: from the path; authorize: as resolved
	Path   string        // locate; the skill that the path names. On shared: decode, the tenant
	Route  wire.Route    // locate; HTTP+JSON only
}

// Authorized is what the rules, the limits and the authorizers made of the call (authorize).
type Authorized struct {
	Agentwide   bool                // authorize; the call is not about one skill
	Outlives    bool                // forward; the call goes on when its client hangs up
	Shadow      []string            // authorize; of the rules, as in policy.Decision
	Approvals   []*approval.Rule    // authorize; likewise
	Extensions  []policy.Extensions // authorize; likewise
	CallMessage CallMessage         // authorize; what the call brings, where somebody judges it
	LimitPass   *limits.Pass        // authorize; what the call holds of its caller's limits
	Resumed     *limits.Pass        // authorize; of an earlier call, whose stream this one comes back to; nil for none
	Guards      guard.Selection     // negotiate; those that look at what the call brings, and at its answers; nil for none
}

// Decide notes what the rules have decided: what only records show in the record alone.
func (a *Authorized) Decide(d policy.Decision, rec *telemetry.Exchange) {
	rec.Rule, rec.Consent, rec.Skills, rec.Faults = d.Rule, d.Consent, d.Skills, d.Faults
	a.Shadow, a.Approvals, a.Extensions = d.Shadow, d.Approvals, d.Extensions
}

// Forwarding is the call on its way to the agent, and its answer on the way back (forward).
type Forwarding struct {
	Endpoint *agents.Endpoint        // decode; the interface of the agent's that serves the call best
	Upstream *UpstreamCall           // forward; the call as it goes to the agent
	Trail    *telemetry.Trail        // forward; the spans of the call to the agent; nil where it is not traced
	Sent     time.Time               // forward; when the call went to the agent
	Late     *time.Timer             // forward; ends the wait for an answer
	Up       *DetachedRequest        // forward; the request for a stream of the agent's
	Stands   map[state.Step]Standing // negotiate: of the call's task; forward
	Question *authdemand.Demand      // forward; what a task wants to see that the gateway answers itself
	Held     []byte                  // forward; the event that showed it, framed for the caller, until another has come
	Webhook  *push.Registration      // forward; what the agent is given for the webhook that came with the call
	Holders  map[string]string       // forward; the agent's instances by task, of the tasks that it is asked to list
	FellBack bool                    // forward; the agent is called in the caller's version, which its card does not have
	Leads    bool                    // forward; the agent's document at hand is put before a stream
	TaskTold bool                    // approve; the client of a stream has been shown its task by the gateway
	Filtered bool                    // forward; the list at hand holds nothing of other callers' any more
}
