// Package refusal says of a call that the gateway refused, as the audit log has it, which stage of the
// request path refused it, which rule or limit decided, and what can be done about it. The CLI
// (audit tail --why) and the console say the same, by the one table that is here.
package refusal

import (
	"cmp"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Refusal is why a call was refused.
type Refusal struct {
	// Stage of the request path (docs/design.md): routing, authentication, decoding, ownership,
	// policy, limits, negotiation, forwarding or gateway.
	Stage string
	// Rule is the rule that refused the call, or what stands for one where no rule did: default,
	// credential, undeclared, skill-scopes. "" where the rules did not refuse it.
	Rule string
	// Limit is the limit that refused the call; "" where none did.
	Limit string
	// Cause is the gateway's own words, which the caller was not told.
	Cause string
	// Remedy is what the operator or the caller can do about it.
	Remedy string
	// Code is that of the JSON-RPC error which says so; 0 where the reason is none of docs/errors.md.
	Code int
}

// of is what a reason says by itself.
type of struct {
	kind          *wire.Kind
	stage, remedy string
}

// table is every reason that a call can be refused for by another stage than the rules and the
// limits. What is not here was refused as the request was decoded.
var table = []of{
	{wire.Unauthenticated, "authentication", "the caller has to show a credential that authn accepts; a2a-gateway token says of a token what is wrong with it, a2a-gateway keys list which keys there are"},
	{wire.Denied, "policy", ""},
	{wire.UnknownAgent, "routing", "the caller named an agent that is not here: a2a-gateway agents list has those that are"},
	{wire.Misdirected, "routing", "add the host to server.hosts, or have the caller use server.publicURL"},
	{wire.VerbNotAllowed, "routing", ""},
	{wire.Loop, "routing", ""},
	{wire.TaskNotFound, "ownership", "the task is another caller's, or forgotten (state.retention); rules share tasks by tasks: (docs/policy.md)"},
	{wire.Duplicate, "ownership", ""},
	{wire.RateLimited, "limits", "the caller waits as Retry-After says"},
	{wire.ExtensionRequired, "negotiation", "the caller has to ask for the extension, in A2A-Extensions; a2a-gateway explain shows who requires it"},
	{wire.ContentRefused, "policy", "a guard found in the message what it refuses: the record's guards say which and what; the caller leaves it out, or the guard is changed to redact or report (policy.guards)"},
	{wire.VersionUnsupported, "negotiation", "the caller has to say another A2A-Version, or another interface of the agent has to be written under agents[].interfaces"},
	{wire.AnswerRefused, "forwarding", "a guard found in the agent's answer what it refuses: the record's guards say which and what; have it redact or report (policy.guards), or look at the agent"},
	{wire.BadAgentResponse, "forwarding", lookAtAgent},
	{wire.AgentTimeout, "forwarding", lookAtAgent},
	{wire.OutcomeUnknown, "forwarding", lookAtAgent},
	{wire.Unavailable, "forwarding", lookAtAgent},
	{wire.TooLarge, "decoding", "raise server.limits.body, or have the caller send files by URL"},
	{wire.Internal, "gateway", ""},
}

const lookAtAgent = "look at the agent: a2a-gateway doctor asks it, and a2a-gateway status says how it stands"

// decoding is the stage of reasons that the table does not have.
const decoding = "decoding"

// Of says why a call was refused; nil where it was not. An error that an agent answers to a call
// that was let through is the agent's business.
func Of(c *reader.Call) *Refusal {
	if c.Decision == "allow" || c.Decision == "" {
		return nil
	}
	row := rowOf(c.Reason)
	r := &Refusal{Limit: c.Limit, Cause: c.Cause, Stage: Stage(c.Decision, c.Reason, c.Rule, c.Limit), Remedy: row.remedy}
	if c.Decision == "deny" && ByRule(row.stage) {
		r.Rule = c.Rule
	}
	switch {
	case c.Limit != "":
		r.Remedy = "the caller waits as Retry-After says; or raise " + c.Limit
	case r.Rule != "":
		r.Remedy = ruleRemedy(r.Rule)
	case c.Reason == wire.Internal.Reason:
		r.Remedy = "the log of the gateway has more by this request id: " + c.RequestID
	}
	r.Remedy = cmp.Or(r.Remedy, "the caller has to send another request: docs/errors.md has "+c.Reason)
	r.Code = codeOf(c.Reason)
	return r
}

// Stage is the stage of the request path that refused a call, of which the audit log has this decision, reason,
// rule and limit; "" where the gateway let it through.
func Stage(decision, reason, rule, limit string) string {
	if decision == "allow" || decision == "" {
		return ""
	}
	stage := rowOf(reason).stage
	switch {
	case limit != "":
		return "limits"
	case decision == "deny" && rule != "" && ByRule(stage):
		return "policy"
	}
	return stage
}

// Stages are all that Stage returns, in the order in which a call passes them.
func Stages() []string {
	return []string{"routing", "authentication", decoding, "ownership", "policy", "limits", "negotiation", "forwarding", "gateway"}
}

// ByRule reports whether a call that is denied at a stage, by its reason, may have been denied by a rule:
// an agent that somebody has no rule on is one that does not exist, to that caller, and a rule may want a
// stronger sign-in or hide a task. What is refused at other stages was allowed by the rule on record.
func ByRule(stage string) bool {
	switch stage {
	case "policy", "routing", "authentication", "ownership":
		return true
	}
	return false
}

func rowOf(reason string) of {
	for _, row := range table {
		if row.kind.Reason == reason {
			return row
		}
	}
	return of{stage: decoding}
}

// ruleRemedy is what can be done about a decision of the rules.
func ruleRemedy(rule string) string {
	switch rule {
	case "credential":
		return "the credential is bound to other agents: make a key without that, or one for this agent"
	case "undeclared":
		return "the call does not say which skill it is for: it can by the URL or its metadata; policy.skills.undeclared says what becomes of such calls"
	case "skill-scopes":
		return "the card asks for scopes that the token does not have: have the issuer give them"
	}
	return ChangeRules
}

// ChangeRules is the remedy where a rule refused the call, or none allows it.
const ChangeRules = "if it should be allowed, change policy.rules"

// Reason is what a reason of docs/errors.md says where neither a rule nor a limit refused the call.
type Reason struct {
	Name, Stage string
	Code        int // of the JSON-RPC error
}

// Reasons are all of docs/errors.md, in its order.
func Reasons() []Reason {
	var list []Reason
	for _, k := range wire.Kinds() {
		list = append(list, Reason{k.Reason, rowOf(k.Reason).stage, k.Code})
	}
	return list
}

func codeOf(reason string) int {
	for _, k := range wire.Kinds() {
		if k.Reason == reason {
			return k.Code
		}
	}
	return 0
}
