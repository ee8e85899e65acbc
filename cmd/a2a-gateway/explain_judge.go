package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// judgement is everything that is asked about a call.
type judgement struct {
	book   *ext.Book
	rules  *policy.Set
	agent  *proxy.AgentConfig
	method *wire.Method
	card   *card.Card // nil: not known
	skills []string
	push   bool
	notes  []string
}

// newJudgement compiles what the configuration says and learns what the card does.
func newJudgement(ctx context.Context, cfg *config.Config, a *proxy.AgentConfig, q *inquiry) (*judgement, error) {
	j := &judgement{agent: a, push: cfg.Push.Mode == "passthrough"}
	var err error
	if j.book, err = cfg.Extensions.Compile(); err != nil {
		return nil, usage(err)
	}
	extra := j.book.Extra().Methods()
	if j.rules, _, err = policy.Compile(cfg.Policy.Config, cfg.AgentIDs(), extra...); err == nil {
		j.method, err = methodNamed(q.method, extra)
	}
	if err == nil {
		j.card, err = q.read(ctx, a)
	}
	if err != nil {
		j.book.Close()
		return nil, usage(err)
	}
	j.learn(q.skill)
	return j, nil
}

// read gets the agent's card from where the flags say, if anywhere.
func (q *inquiry) read(ctx context.Context, a *proxy.AgentConfig) (*card.Card, error) {
	switch {
	case q.online:
		up, err := upstream.New(a.Config, upstream.Options{})
		if err != nil {
			return nil, err
		}
		defer up.Close()
		return card.Fetch(ctx, up.Client(), a.Card.URL, 0)
	case q.card == "":
		return nil, nil //nolint:nilnil // no card is what was asked for
	case strings.Contains(q.card, "://"):
		// Not with the agent's credentials: this address may be anybody's.
		return card.Fetch(ctx, nil, q.card, 0)
	}
	raw, err := os.ReadFile(q.card)
	if err != nil {
		return nil, err
	}
	return card.Parse(raw)
}

// learn settles which skills the agent has, and says what is not known of it.
func (j *judgement) learn(named string) {
	note := func(text string) { j.notes = append(j.notes, text) }
	for _, s := range j.agent.Skills {
		j.skills = append(j.skills, s.ID)
	}
	if j.card == nil {
		note("the agent's card is not known, so that no extension counts as declared by it (--card, --online)")
	} else {
		for _, odd := range j.book.Lint(j.card.Extensions) {
			note("the agent's card: " + odd)
		}
	}
	switch {
	case j.skills != nil:
	case j.card != nil:
		for _, s := range j.card.Skills {
			j.skills = append(j.skills, s.ID)
		}
	case named != "":
		j.skills = []string{named}
		note("whether the agent has this skill is for its card to say")
	default:
		note("which skills the agent has is for its card to say: it is judged as one without any")
	}
	if j.method.Subject == wire.OfTask || j.method.Subject == wire.OfConfig {
		note("the task has to be the caller's own")
	}
}

// explain takes the call through what the stages authorize and negotiate of the
// request path ask.
func (j *judgement) explain(q *inquiry, asked ext.Set) *explanation {
	p := &q.caller
	e := &explanation{
		Verdict: allowed, Agent: j.agent.ID, Method: j.method.Name, Visible: j.rules.Sees(p, j.agent.ID),
		Caller: newCaller(p),
		Notes:  j.notes,
	}
	src := policy.SkillSource{
		Path: q.skill, Extension: j.book.Skill(j.method), All: j.skills,
		Method: j.method, Principal: p, Agent: j.agent.ID,
	}
	e.Skill.Why = j.rules.Reading(src)
	skill, agentwide, err := j.rules.Resolve(src)
	if err != nil {
		return j.hide(e.deny(err), p, asked)
	}
	e.Skill.ID = skill
	decision := e.judge(j.rules, policy.Request{
		Principal: p, Agent: j.agent.ID, Method: j.method, Skill: skill, Skills: j.skills, Agentwide: agentwide,
		Now: q.now,
	})
	switch {
	case e.Verdict != allowed:
	case j.method.Push && !j.push:
		e.refuse(wire.PushUnsupported, "push.mode is off")
	case j.method.Name == wire.GetExtendedAgentCard && j.card != nil && !j.card.Extended:
		e.refuse(wire.Unsupported, "the agent's card says that there is no extended one")
	default:
		j.negotiate(e, decision, asked)
	}
	return j.hide(e, p, asked)
}

// hide says of an extension's method that there is none, to whom a running gateway says
// so before any rule is asked: who does not ask for the extension, or cannot have it.
func (j *judgement) hide(e *explanation, p *authn.Principal, asked ext.Set) *explanation {
	uri := j.method.Extension
	switch {
	case uri == "":
	case !asked.Has(uri):
		e.refuse(wire.MethodNotFound, "only calls that ask for "+uri+" have the method")
	case e.Visible && !j.offers(p, uri):
		e.refuse(wire.MethodNotFound, "the method is that of "+uri+", which the caller cannot have on this agent")
	}
	return e
}

// offers reports whether any call of the caller's could activate an extension.
func (j *judgement) offers(p *authn.Principal, uri string) bool {
	return slices.ContainsFunc(j.rules.Extensions(p, j.agent.ID, j.skills), func(said []policy.Extensions) bool {
		q := j.question(said)
		return slices.ContainsFunc(j.book.Effective(&q), func(d ext.Declared) bool { return d.URI == uri })
	})
}

// judge asks the rules.
func (e *explanation) judge(rules *policy.Set, q policy.Request) policy.Decision {
	for _, s := range rules.Trace(q) {
		e.Rules = append(e.Rules, step{s.Rule, s.Effect, s.Shadow, s.Failed == "", s.Failed})
	}
	d, err := rules.Check(q)
	e.Rule, e.Shadow, e.Consent = d.Rule, d.Shadow, d.Consent
	if err != nil {
		e.deny(err)
	}
	return d
}

func (e *explanation) deny(err error) *explanation {
	var d *policy.Denied
	if errors.As(err, &d) {
		e.Rule, e.MissingScopes, e.StepUp = d.Rule, d.Scopes, newSignIn(d.StepUp)
		err = errors.New(d.Reason)
	}
	e.refuse(wire.Denied, err.Error())
	e.Verdict = denied
	if !e.Visible {
		e.Error = wire.UnknownAgent.Reason
	}
	return e
}

func (e *explanation) refuse(k *wire.Kind, reason string) {
	e.Verdict, e.Reason, e.Error = refused, reason, k.Reason
}

// question is what negotiation is told of the agent and the rules.
func (j *judgement) question(said []policy.Extensions) ext.Question {
	q := ext.Question{
		Config: &j.agent.Extensions, Rules: proxy.Effects(said),
		Provided: make(map[string]ext.Declared), Now: time.Now(),
	}
	if j.card != nil {
		q.Declared = j.card.Extensions
	}
	for uri, p := range provided.Providers() {
		q.Provided[uri] = p.Declared()
	}
	return q
}

// negotiate asks what the call may do with extensions.
func (j *judgement) negotiate(e *explanation, d policy.Decision, asked ext.Set) {
	q := j.question(d.Extensions)
	q.Requested = asked
	e.Extensions = j.book.Explain(&q)
	e.Call = &activation{Asked: asked}
	out, err := j.book.Negotiate(&q)
	var missing *ext.MissingError
	if errors.As(err, &missing) {
		e.Call.Missing = missing.URIs
		e.refuse(wire.ExtensionRequired, err.Error())
		return
	}
	e.Call.take(&out)
	if uri := j.method.Extension; uri != "" && !out.Send.Has(uri) {
		e.refuse(wire.MethodNotFound, fmt.Sprintf("the method is that of %s, which is not active in the call", uri))
	}
}

// take copies an outcome. What is asked for and stands nowhere in it is ignored;
// skill-selection is acted on by the gateway whoever declares it.
func (a *activation) take(out *ext.Outcome) {
	a.Sent, a.Visible, a.Injected, a.Provided = out.Send, out.Visible, out.Injected, out.Provided
	a.Required, a.Refused, a.Shadow = out.Required, out.Refused, out.Shadow
	for _, uri := range a.Asked {
		switch {
		case out.Send.Has(uri) || out.Provided.Has(uri) || out.Refused.Has(uri):
		case uri == wire.SkillSelection:
			a.Provided = append(a.Provided[:len(a.Provided):len(a.Provided)], uri)
		default:
			a.Ignored = append(a.Ignored, uri)
		}
	}
}
