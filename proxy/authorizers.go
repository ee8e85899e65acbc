package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// askAuthorizers: do the authorizers that the configuration names allow it too?
func (az *authorizer) askAuthorizers(x *exchange) error {
	if az.Panel == nil {
		return nil
	}
	q := &pdp.Question{
		Principal: x.principal, Agent: x.agent.ID, Skill: x.skill, Verb: x.r.Method,
		Method: x.call.Method, Binding: x.call.Binding, Version: x.call.Version,
		TaskID: x.call.TaskID, ContextID: x.call.ContextID, Extensions: x.asked,
		Source: x.source(), Host: x.r.Host, Path: x.r.URL.Path, RequestID: x.rec.RequestID, Now: x.rec.Start,
	}
	q.Skills = possibleSkills(x)
	if az.Panel.Reads(x.agent.ID) {
		var err error
		if q.Message, err = az.message(x); err != nil {
			return err
		}
	}
	var err error
	x.rec.Authorizers, err = az.Panel.Ask(x.ctx, q)
	return err
}

// possibleSkills are the skills that a call may be for which does not say it; nil where it is
// for none.
func possibleSkills(x *exchange) []string {
	switch {
	case x.agentwide:
		return nil
	case x.decision.Skills != nil:
		return x.decision.Skills
	}
	return x.view.Skills
}

// turnedDown answers a call that an authorizer refused: somebody who may make other
// calls on the agent, as the rules allowed this one, so that nothing is given away.
func turnedDown(r *pdp.Refused) *wire.Error {
	if r.Err != nil {
		return retryLater("5", "the call cannot be authorized at the moment").Because(r)
	}
	return wire.Errorf(wire.Denied, "").Because(r)
}

// gatherConditions gathers what rules may ask about a call beside who makes it: the extensions it
// asks for, the task it names, and, where some rule looks into them, what it brings.
func (in *inspector) gatherConditions(x *exchange) error {
	asked, names, err := ext.Requested(x.r.Header, ext.Limits{})
	if err != nil {
		return wire.Errorf(wire.InvalidRequest, "%s", err).Because(err)
	}
	x.asked, x.names = asked, names
	if r := &x.record; r.ID != "" {
		x.known = recorded(r)
		if r.Owner != x.principal.Key() {
			x.rec.Sharing = in.Policy.Shares(x.principal, x.agent.ID, x.call.Method, &x.known)
		}
	}
	if in.Policy.Reads(x.agent.ID) || x.agent.Match.Reads() {
		_, err = in.message(x)
	}
	return err
}

// request is the call as the rules see it.
func (x *exchange) request() policy.Request {
	q := policy.Request{
		Principal: x.principal, Agent: x.agent.ID, Method: x.call.Method,
		Skill: x.skill, Skills: x.view.Skills, Agentwide: x.agentwide, Now: x.rec.Start,
		SkillScopes: x.view.Scopes, Message: x.callMessage.message,
		Binding: x.call.Binding, Version: x.call.Version, Extensions: x.asked, Source: x.source(),
	}
	if x.known.ID != "" {
		q.Task = &x.known
	}
	return q
}

// callMessage is the message of a call, read when the first rule, authorizer or limit asks for
// it. Calls of which nobody asks cost nothing; err is what was wrong with it for all who ask.
type callMessage struct {
	read    bool
	message *wire.Message
	err     error
}

// message reads what the call brings, at most once; nil for calls without a message.
// Those who judge contents ask for it, so that calls which nobody judges cost nothing.
// It is the caller's: extensions' defaults and hooks come later.
func (in *inspector) message(x *exchange) (*wire.Message, error) {
	if b := &x.callMessage; !b.read {
		b.read = true
		x.mend()
		m, e := x.call.ReadMessage()
		if b.message = m; e != nil {
			b.err = e
		}
	}
	return x.callMessage.message, x.callMessage.err
}

// mend is for whoever judges what the call carries: where that has half of a surrogate
// pair, which every parser reads as it likes, U+FFFD is what is judged, and then it is
// what the agent gets. It is done where the body lies, so that all that was found in it
// stays where it was.
func (x *parsedCall) mend() {
	jsonscan.MendHere(x.call.Body)
	jsonscan.MendHere(x.call.Params) // of which a webhook may have been replaced
}
