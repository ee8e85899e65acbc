package auditcmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// why is one refused call for people: which stage of the request path refused it, by which rule,
// the cause that the caller was not told, and what can be done about it.
//
//	2026-11-28T15:04:05Z alice on billing, SendMessage, skill refund: UNAUTHORIZED
//	  policy: rule support-only: groups: has none of [support]
//	  remedy: …
type why struct {
	call   *reader.Call
	config string // for commands that can be pasted; "" where the log was named by its directory
}

// refusedCall is the call of a record, where the gateway refused it; nil otherwise. An error that
// an agent answers to a call that was let through is the agent's business.
func refusedCall(e reader.Entry) (*reader.Call, error) {
	c, err := e.Call()
	if err != nil || c == nil || c.Decision == "allow" || c.Decision == "" {
		return nil, err
	}
	return c, nil
}

// print writes it in three lines. What a caller chose goes through verb.Cell.
func (w why) print(out io.Writer) error {
	c := w.call
	who := verb.Cell(cmp.Or(c.Principal, c.ClientIP, "somebody"))
	what := []string{cmp.Or(c.Method, "a request")}
	if c.Skill != "" {
		what = append(what, "skill "+c.Skill)
	}
	for i := range what {
		what[i] = verb.Cell(what[i])
	}
	on := ""
	if c.Agent != "" {
		on = " on " + verb.Cell(c.Agent)
	}
	_, err := fmt.Fprintf(out, "%s %s%s, %s: %s\n  %s: %s\n  remedy: %s\n", c.Start.Format("2006-01-02T15:04:05Z07:00"), who, on,
		strings.Join(what, ", "), verb.Cell(c.Reason), w.stage(), verb.Legible(w.cause()), verb.Legible(w.remedy()))
	return err
}

// byRule reports whether the rules refused the call, whatever the caller was told: an agent that
// somebody has no rule on is one that does not exist, to that caller.
func (w why) byRule() bool { return w.call.Decision == "deny" && w.call.Rule != "" }

// stage is where on the request path the call was refused (docs/design.md).
func (w why) stage() string {
	switch {
	case w.call.Limit != "":
		return "limits"
	case w.byRule():
		return "policy"
	}
	switch w.call.Reason {
	case wire.Unauthenticated.Reason:
		return "authentication"
	case wire.Denied.Reason:
		return "policy"
	case wire.UnknownAgent.Reason, wire.Misdirected.Reason, wire.VerbNotAllowed.Reason, wire.Loop.Reason:
		return "routing"
	case wire.TaskNotFound.Reason, wire.Duplicate.Reason:
		return "ownership"
	case wire.RateLimited.Reason:
		return "limits"
	case wire.ExtensionRequired.Reason, wire.VersionUnsupported.Reason:
		return "negotiation"
	case wire.BadAgentResponse.Reason, wire.AgentTimeout.Reason, wire.OutcomeUnknown.Reason, wire.Unavailable.Reason:
		return "forwarding"
	case wire.Internal.Reason:
		return "gateway"
	}
	return "decoding"
}

// cause is the rule or limit that decided, and the cause in the gateway's words.
func (w why) cause() string {
	c := w.call
	text := ""
	switch {
	case c.Limit != "":
		text = "limit " + c.Limit
	case c.Rule == "default" && c.Cause == "":
		text = "no rule allows it"
	case c.Rule == "default": // the cause says so
	case c.Rule != "" && c.Decision == "deny":
		text = "rule " + c.Rule
	}
	switch {
	case text == "":
		return cmp.Or(c.Cause, "no cause is on record")
	case c.Cause == "":
		return text
	}
	return text + ": " + c.Cause
}

// remedy is what can be done about it, by the operator or by the caller.
func (w why) remedy() string {
	c := w.call
	switch {
	case c.Limit != "":
		return "the caller waits as Retry-After says; or raise " + c.Limit
	case w.byRule():
		return w.ruleRemedy()
	}
	switch c.Reason {
	case wire.Unauthenticated.Reason:
		return "the caller has to show a credential that authn accepts; a2a-gateway token says of a token what is wrong with it, a2a-gateway keys list which keys there are"
	case wire.UnknownAgent.Reason:
		return "the caller named an agent that is not here: a2a-gateway agents list has those that are"
	case wire.Misdirected.Reason:
		return "add the host to server.hosts, or have the caller use server.publicURL"
	case wire.TaskNotFound.Reason:
		return "the task is another caller's, or forgotten (state.retention); rules share tasks by tasks: (docs/policy.md)"
	case wire.ExtensionRequired.Reason:
		return "the caller has to ask for the extension, in A2A-Extensions; a2a-gateway explain shows who requires it"
	case wire.VersionUnsupported.Reason:
		return "the caller has to say another A2A-Version, or another interface of the agent has to be written under agents[].interfaces"
	case wire.Unavailable.Reason, wire.BadAgentResponse.Reason, wire.AgentTimeout.Reason, wire.OutcomeUnknown.Reason:
		return "look at the agent: a2a-gateway doctor asks it, and a2a-gateway status says how it stands"
	case wire.RateLimited.Reason:
		return "the caller waits as Retry-After says"
	case wire.TooLarge.Reason:
		return "raise server.limits.body, or have the caller send files by URL"
	case wire.Internal.Reason:
		return "the log of the gateway has more by this request id: " + c.RequestID
	}
	return "the caller has to send another request: docs/errors.md has " + c.Reason
}

// ruleRemedy is what can be done about a decision of the rules.
func (w why) ruleRemedy() string {
	c := w.call
	switch c.Rule {
	case "credential":
		return "the credential is bound to other agents: make a key without that, or one for this agent"
	case "undeclared":
		return "the call does not say which skill it is for: it can by the URL or its metadata; policy.skills.undeclared says what becomes of such calls"
	case "skill-scopes":
		return "the card asks for scopes that the token does not have: have the issuer give them"
	}
	ask := "a2a-gateway explain"
	if w.config != "" {
		ask += " -c " + w.config
	}
	add := func(flag, value string) {
		if value != "" {
			ask += " --" + flag + " " + quoted(value)
		}
	}
	add("agent", c.Agent)
	add("subject", c.Principal)
	add("issuer", c.Issuer)
	for _, g := range c.Groups {
		add("group", g)
	}
	for _, s := range c.Scopes {
		add("scope", s)
	}
	add("method", c.Method)
	add("skill", c.Skill)
	return "if it should be allowed, change policy.rules; what each rule says: " + ask
}

// quoted is a word as a shell takes it for one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+,", r)
	}
	if strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
