package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"

	ownership "github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// judgement takes one call through what the stages own, authorize and negotiate of the
// request path ask, and inspect of files, in their order.
type judgement struct {
	*Judge
	*Inquiry

	ctx    context.Context //nolint:containedctx // a judgement is one call
	e      *verdict.Explanation
	call   *wire.Call
	said   *wire.Message // that the call brings; nil where it is not known, or cannot be read
	skills []string      // of the agent
	ask    policy.Request
}

// Judge says what would become of a call.
func (jd *Judge) Judge(ctx context.Context, q *Inquiry) *verdict.Explanation {
	j, bad, vague := jd.begin(ctx, q)
	// The order is that of the request path. A refusal for ownership comes before the rules, so
	// that nobody learns from the rules' answer that a task of somebody else's exists.
	err := j.prepare(bad, vague)
	if err == nil {
		err = j.decide()
	}
	if err != nil {
		j.refuse(err)
	}
	j.hide()
	return j.e
}

// begin reads the call. bad is what decoding says of it, vague what reading its message does.
func (jd *Judge) begin(ctx context.Context, q *Inquiry) (j *judgement, bad, vague *wire.Error) {
	j = &judgement{Judge: jd, Inquiry: q, ctx: ctx, e: newExplanation(jd, q)}
	// A call that cannot be decoded is still judged by whether the caller may see the agent: who
	// may not is answered that there is no such agent, whatever the body was.
	if j.call, bad = q.decode(jd); bad == nil {
		j.said, vague = message.Read(j.call)
	}
	// decode reads JSON-RPC 1.0; from here on the call is what the inquiry says it came as.
	j.call.Binding, j.call.Version = q.binding.Document(), q.version
	j.learn()
	j.ask = policy.Request{
		Principal: q.Caller, Agent: q.Agent.ID, Method: q.Method, Skills: j.skills, SkillScopes: j.scopes(),
		Now: q.now, Binding: q.binding, Version: q.version, Extensions: q.asked, Source: q.source,
	}
	return j, bad, vague
}

// prepare asks what comes before the rules: whether the call can be read, and whether
// what it names is the caller's. bad is what decoding says of it, vague what reading the
// message does.
func (j *judgement) prepare(bad, vague *wire.Error) error {
	switch {
	// Nil goes on to the rules, which refuse such a call with the reason that is recorded.
	case !j.e.Visible: // refused, as by rules, before anything else is looked at
		return nil
	case bad != nil:
		return bad
	}
	if j.Card != nil {
		if e := agents.Incapable(j.Method, j.Card, j.Push); e != nil {
			return e
		}
	}
	if err := j.own(); err != nil {
		return err
	}
	switch {
	case vague == nil:
		j.ask.Message = j.said
	case j.reads():
		return vague
	default:
		j.note("the message can be read in several ways, which nothing here looks into: " + vague.Text())
	}
	return nil
}

// own asks the ledger, as if the task that is described, and nothing else, were recorded
// in it.
// The store is in memory and closed with the answer: nothing is written to the gateway's state.
func (j *judgement) own() error {
	if j.task == nil {
		return nil
	}
	store := ownership.NewMemory(ownership.Config{})
	defer func() { _ = store.Close() }()
	records := []ownership.Record{*j.task}
	// The context is recorded as the owner's as well, as it would be when the agent showed the
	// task.
	if j.task.Context != "" {
		group := *j.task
		group.Kind, group.ID, group.Context = ownership.Context, j.task.Context, ""
		records = append(records, group)
	}
	if _, err := store.ClaimAll(j.ctx, records); err != nil {
		return err
	}
	// A context that is not the caller's does not end the call: the proxy puts another id in its
	// place.
	record, err := j.ledger(store).Check(j.ctx, j.Caller, j.Agent.ID, j.call)
	var foreign *ledger.ForeignContext
	switch {
	case errors.As(err, &foreign) && foreign.Unknown:
		j.note("the context is not known as the caller's: the agent gets another in its place (policy.tasks.contexts)")
		return nil
	case errors.As(err, &foreign):
		j.note("the context is somebody else's: the agent gets another in its place")
		return nil
	case err != nil || record.ID == "":
		return err
	}
	task := taskOf(&record)
	j.ask.Task = &task
	// A task of somebody else's got here because an entry of tasks.sharing lends it: it is named.
	if record.Owner != j.Caller.Key() {
		j.e.Sharing = j.Rules.Shares(j.Caller, j.Agent.ID, j.Method, &task)
	}
	return nil
}

// reads reports whether judging the call takes its message.
// Rules, match rules of the agent, authorizers, guards and the check of media types may each look at it.
// Where none does, a message that can be read in two ways is passed on unread.
func (j *judgement) reads() bool {
	id := j.Agent.ID
	return j.Rules.Reads(id) || j.Agent.match.Reads() || j.Panel.Reads(id) || j.Guards.Reads(id) || j.Agent.Modes == ext.Enforce
}

// decide asks the rules and what comes behind them.
func (j *judgement) decide() error {
	own, err := j.extensionSkill()
	if err != nil {
		return err
	}
	if err := j.settle(own); err != nil {
		return err
	}
	decision, err := j.check()
	if err != nil {
		return err
	}
	// What follows is asked of calls that rules allow, in the order of the running gateway: a
	// caller without permission must not learn what the agent is capable of.
	j.named()
	if err := j.modes(); err != nil {
		return err
	}
	switch {
	case (j.Method.Push || j.call.HasPushConfig) && !j.Push:
		return because(wire.PushUnsupported, "push.mode is off")
	case j.Method.Name == wire.GetExtendedAgentCard && j.Card != nil && !j.Card.Extended:
		return because(wire.Unsupported, "the agent's card says that there is no extended one")
	}
	if j.ask.Agentwide { // what is asked next is told of skills that the call may be for
		j.ask.Skills = nil
	} else if decision.Skills != nil {
		j.ask.Skills = decision.Skills
	}
	j.count()
	if err := j.consult(); err != nil {
		return err
	}
	if err := j.negotiate(decision); err != nil {
		return err
	}
	if err := j.screen(); err != nil {
		return err
	}
	return j.guard()
}

// settle finds the skill that the call is for. own is the one that an extension's method needs.
func (j *judgement) settle(own string) error {
	// A copy: match rules see the call before its skill is settled, and j.ask is changed below.
	call := j.ask
	src := policy.SkillSource{
		Path: j.Skill, Extension: own, Declared: j.call.Skill, All: j.skills,
		Method: j.Method, Principal: j.Caller, Agent: j.Agent.ID, Match: j.Agent.match, Call: &call,
	}
	if j.ask.Task != nil {
		src.Task = j.ask.Task.Skill
	}
	// Why is said before Resolve may refuse, since it explains a refusal as well.
	j.e.Skill.Why = j.Rules.Reading(src)
	skill, agentwide, err := j.Rules.Resolve(src)
	if err != nil {
		return err
	}
	j.e.Skill.ID, j.ask.Skill, j.ask.Agentwide = skill, skill, agentwide
	return nil
}

// extensionSkill finds the skill that an extension's method needs. On a task that was made
// for another one the caller needs both.
// The registry of extensions says which skill a method is for; "" for none.
func (j *judgement) extensionSkill() (string, error) {
	skill := j.Book.Skill(j.Method)
	if t := j.ask.Task; skill == "" || t == nil || t.Skill == "" || t.Skill == skill {
		return skill, nil
	}
	q := j.ask
	q.Skill = skill
	_, err := j.Rules.Check(q)
	return "", err
}

// check asks the rules.
// Trace says of each rule what fails, Check decides; both look at the same conditions.
func (j *judgement) check() (policy.Decision, error) {
	e, q := j.e, j.ask
	for _, s := range j.Rules.Trace(q) {
		e.Rules = append(e.Rules, verdict.Step{
			Rule: s.Rule, Effect: s.Effect, Shadow: s.Shadow, Matches: s.Failed == "", Failed: s.Failed, Skills: s.Skills,
		})
	}
	d, err := j.Rules.Check(q)
	e.Rule, e.Shadow, e.Consent, e.Faults, e.Skills = d.Rule, d.Shadow, d.Consent, d.Faults, d.Skills
	for _, r := range d.Approvals {
		e.Approvals = append(e.Approvals, verdict.Awaited{Rule: r.Name, Asks: r.String()})
	}
	return d, err
}

// because is a refusal for a reason that callers are not told.
func because(k *wire.Kind, reason string) error {
	return wire.Errorf(k, "").Because(errors.New(reason))
}

// refuse makes an error of a stage the verdict, as package proxy makes it an answer.
//
// Refusals of rules, of the ledger and of later stages differ in what the caller is told: a
// policy.Denied may ask for scopes or another sign-in, ledger.ErrAbsent looks like a task that
// does not exist, and a wire.Error has its kind. Everything else is a failure of the gateway.
func (j *judgement) refuse(err error) {
	e := j.e
	var d *policy.Denied
	var told *wire.Error
	switch {
	case errors.As(err, &d):
		e.Rule, e.MissingScopes, e.StepUp = d.Rule, d.Scopes, newSignIn(d.StepUp)
		refuse(e, wire.Denied, d.Reason)
		switch e.Verdict = verdict.Denied; {
		case !e.Visible, j.Skill != "" && !slices.Contains(j.skills, j.Skill): // as paths that lead nowhere
			e.Error = wire.UnknownAgent.Reason
		// RFC 9470 §3: 401 insufficient_user_authentication.
		case d.StepUp != nil:
			e.Error = wire.Unauthenticated.Reason
		}
	case errors.Is(err, ledger.ErrAbsent):
		refuse(e, wire.TaskNotFound, "the task is not the caller's, and nothing shares it")
	case errors.As(err, &told):
		// The cause is for the operator and says more than the message that callers get.
		reason := told.Message
		if cause := errors.Unwrap(told); cause != nil {
			reason = cause.Error()
		}
		refuse(e, told.Kind, reason)
	default:
		refuse(e, wire.Internal, err.Error())
	}
}

// refuse sets the verdict; k is the kind of error that the caller is answered with.
func refuse(e *verdict.Explanation, k *wire.Kind, reason string) {
	e.Verdict, e.Reason, e.Error = verdict.Refused, reason, k.Reason
}

// hide says of an extension's method that there is none, to whom a running gateway says
// so before any rule is asked: who does not ask for the extension, or cannot have it.
// It comes last, over any other verdict: the answer to such a call must not depend on rules.
func (j *judgement) hide() {
	uri := j.Method.Extension
	switch {
	case uri == "":
	case !j.asked.Has(uri):
		refuse(j.e, wire.MethodNotFound, "only calls that ask for "+uri+" have the method")
	case j.e.Visible && !j.offers(uri):
		refuse(j.e, wire.MethodNotFound, "the method is that of "+uri+", which the caller cannot have on this agent")
	}
}

// modes asks whether the media types of the message are among those that the skill, or
// the card, lists.
func (j *judgement) modes() error {
	mode := j.Agent.Modes
	if mode == "" || mode == ext.Off || j.ask.Message == nil {
		return nil
	}
	if j.Card == nil {
		j.note("which media types the skill takes is for the agent's card to say", cardFlags)
		return nil
	}
	// Each is listed; one is enough for a refusal where modes is enforce.
	j.e.Modes = agents.OddModes(j.Card, j.skills, j.ask.Skill, j.ask.Message)
	if len(j.e.Modes) == 0 || mode != ext.Enforce {
		return nil
	}
	return because(wire.ContentType, fmt.Sprintf("agents[].modes is enforce: %s", j.e.Modes[0]))
}
