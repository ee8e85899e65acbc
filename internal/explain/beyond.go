package explain

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
)

// learn settles which skills the agent has, and says what is not known of it.
// The section of the agent wins over its card, as in the running gateway. Without either, suppose has
// them: otherwise every rule about skills would fail and the answer would be of no use to somebody who
// has the configuration and no network.
func (j *judgement) learn() {
	for _, s := range j.Agent.Skills {
		j.skills = append(j.skills, s.ID)
	}
	switch {
	case j.Card == nil && (j.Flags || len(j.asked) > 0):
		j.note("the agent's card is not known, so that no extension counts as declared by it", cardFlags)
	case j.Card != nil:
		for _, odd := range j.Book.Lint(j.Card.Extensions) {
			j.note("the agent's card: " + odd)
		}
	}
	named := cmp.Or(j.Skill, j.call.Skill)
	switch {
	case j.skills != nil:
	case j.Card != nil:
		for _, s := range j.Card.Skills {
			j.skills = append(j.skills, s.ID)
		}
	default:
		j.suppose(named)
	}
	if hint := spelling.Hint(named, j.skills); named != "" && hint != "" && !slices.Contains(j.skills, named) {
		j.note(fmt.Sprintf("the agent has no skill %q%s", named, hint))
	}
	// The ledger refuses a call on a task that is not recorded. Who describes no task asks about
	// the rules, and is told what else the call depends on.
	if j.task == nil && (j.Method.Subject == wire.OfTask || j.Method.Subject == wire.OfConfig) {
		j.note("the task has to be the caller's own")
	}
	if j.Message == nil && j.Method.Subject == wire.OfMessage && j.reads() {
		j.note("what the message brings is not known: where it matters deny rules match and allow rules do not", "--message")
	}
}

// suppose settles the skills of an agent whose card is not known: the one that the call names, or else
// those that rules name and one more, which the card may have: nothing is allowed here that the gateway
// would refuse.
func (j *judgement) suppose(named string) {
	known := j.Rules.SkillsNamed(j.Agent.ID)
	switch {
	case named != "":
		j.skills = []string{named}
		text := "whether the agent has this skill is for its card to say"
		if !slices.Contains(known, named) {
			text += spelling.Hint(named, known)
		}
		j.note(text, cardFlags)
	case len(known) > 0:
		j.skills = append(known, "another skill")
		j.note("which skills the agent has is for its card to say: it is judged as one with those that rules name and another, "+strings.Join(known, ", "), cardFlags)
	default:
		j.note("which skills the agent has is for its card to say: it is judged as one without any", cardFlags)
	}
}

// cardFlags are how the card can be had.
const cardFlags = "--card, --online"

// note adds what a reader has to know, and the flags that could help, of explain.
// Flags are named only to users of the command line: the administration API has no flags.
func (j *judgement) note(text string, flags ...string) {
	if j.Flags && flags != nil {
		text += " (" + strings.Join(flags, ", ") + ")"
	}
	j.e.Notes = append(j.e.Notes, text)
}

// scopes are those that the card asks for, by skill.
// Nil, which asks for none, stands for two cases: policy.skills.scopes is off, or the card is not
// known, which is noted.
func (j *judgement) scopes() map[string][][]string {
	if !j.Rules.UsesCardScopes() {
		return nil
	}
	if j.Card == nil {
		j.note("which scopes skills take is for the agent's card to say: none are asked for", cardFlags)
		return nil
	}
	all := map[string][][]string{}
	for _, s := range j.Card.Skills {
		all[s.ID] = s.Scopes
	}
	return all
}

// count lists the limits that apply. Nothing is drawn.
// How full a bucket is depends on the calls of other callers in this very moment, and drawing from
// it would let a question use up what a call needs.
func (j *judgement) count() {
	for _, a := range j.Limits.Explain(&limits.Call{
		Principal: j.Caller, Agent: j.Agent.ID, Skill: j.ask.Skill, Skills: j.ask.Skills, Method: j.Method, Source: j.source, Task: j.task,
	}) {
		b := verdict.Allowance{Limit: a.Limit, Shadow: a.Shadow, What: a.What, Units: a.Units, Burst: a.Burst, Key: a.Key}
		if a.Window > 0 {
			b.Window, b.Cost = quantity.Duration(a.Window).String(), &a.Cost
		}
		j.e.Limits = append(j.e.Limits, b)
	}
}

// consult lists the authorizers that a call concerns, and asks them if that is wanted.
// By default they are only listed: an authorizer is a service somewhere else, which may count, log
// or bill what it is asked.
func (j *judgement) consult() error {
	q := j.question()
	j.e.Authorizers = j.Panel.Explain(q)
	switch {
	case len(j.e.Authorizers) == 0:
		return nil
	case !j.Really:
		j.note("authorizers are not asked and may still refuse the call", "--ask")
		return nil
	}
	notes, err := j.Panel.Ask(j.ctx, q)
	j.e.Asked = &verdict.Asked{Notes: notes}
	// Nil is a permission, and an error that is no refusal a failure of the gateway's own.
	var no *pdp.Refused
	if !errors.As(err, &no) {
		j.e.Asked.Allowed = err == nil
		return err
	}
	// The authorizer did not answer, or not so that it could be understood.
	if no.Err != nil {
		return because(wire.Unavailable, no.Error())
	}
	return because(wire.Denied, no.Error())
}

// question is what authorizers are told: host and path are those of a call on the agent's
// own base.
// The id of the request says explain, so that the logs of an authorizer tell questions from calls.
func (j *judgement) question() *pdp.Question {
	r := &j.ask
	q := &pdp.Question{
		Principal: r.Principal, Agent: r.Agent, Skill: r.Skill, Skills: r.Skills, Method: r.Method,
		Binding: r.Binding, Version: r.Version, TaskID: j.call.TaskID, ContextID: j.call.ContextID,
		Extensions: r.Extensions, Source: r.Source, Path: "/agents/" + r.Agent, RequestID: "explain", Now: r.Now,
	}
	if u, err := url.Parse(j.PublicURL); err == nil {
		q.Host, q.Path = u.Host, strings.TrimSuffix(u.Path, "/")+q.Path
	}
	// Only authorizers that are configured to see messages get one.
	if j.Panel.Reads(r.Agent) {
		q.Message = r.Message
	}
	return q
}

// offers reports whether any call of the caller's could activate an extension.
// All skills are looked at, not only that of the call: a method of an extension exists for a
// caller if some call of the caller's may use the extension.
func (j *judgement) offers(uri string) bool {
	return slices.ContainsFunc(j.Rules.Extensions(j.Caller, j.Agent.ID, j.skills), func(said []policy.Extensions) bool {
		q := j.negotiation(said)
		return slices.ContainsFunc(j.Book.Effective(&q), func(d ext.Declared) bool { return d.URI == uri })
	})
}

// negotiation is what package ext is told of the agent and the rules.
// Provided are the extensions that the gateway itself implements.
func (j *judgement) negotiation(said []policy.Extensions) ext.Question {
	q := ext.Question{
		Config: &j.Agent.Extensions, Rules: negotiate.Effects(said),
		Provided: make(map[string]ext.Declared), Now: j.now,
	}
	if j.Card != nil {
		q.Declared = j.Card.Extensions
	}
	for uri, p := range provided.Providers() {
		q.Provided[uri] = p.Declared()
	}
	return q
}

// negotiate asks what the call may do with extensions.
func (j *judgement) negotiate(d policy.Decision) error {
	q := j.negotiation(d.Extensions)
	q.Requested = j.asked
	j.e.Extensions = j.Book.Explain(&q)
	j.e.Activation = &verdict.Activation{Asked: j.asked}
	// Explain above tells of every extension what bounds it; Negotiate applies the same to the
	// extensions of this call. A missing one that the agent or a rule requires refuses the call.
	out, err := j.Book.Negotiate(&q)
	var missing *ext.MissingError
	if errors.As(err, &missing) {
		j.e.Activation.Missing = missing.URIs
		return because(wire.ExtensionRequired, err.Error())
	}
	take(j.e.Activation, &out)
	// A method of an extension exists only in calls for which the extension is active.
	if uri := j.Method.Extension; uri != "" && !out.Send.Has(uri) {
		return because(wire.MethodNotFound, fmt.Sprintf("the method is that of %s, which is not active in the call", uri))
	}
	return nil
}

// take copies an outcome. What is asked for and stands nowhere in it is ignored;
// skill-selection is acted on by the gateway whoever declares it.
// An extension that A2A does not know of is ignored, not refused.
func take(a *verdict.Activation, out *ext.Outcome) {
	a.Sent, a.Visible, a.Injected, a.Provided = out.Send, out.Visible, out.Injected, out.Provided
	a.Required, a.Refused, a.Shadow = out.Required, out.Refused, out.Shadow
	for _, uri := range a.Asked {
		switch {
		case out.Send.Has(uri) || out.Provided.Has(uri) || out.Refused.Has(uri):
		case uri == wire.SkillSelection:
			// The capacity is cut to the length, so that append copies: the list is the outcome's.
			a.Provided = append(a.Provided[:len(a.Provided):len(a.Provided)], uri)
		default:
			a.Ignored = append(a.Ignored, uri)
		}
	}
}
