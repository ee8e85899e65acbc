package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
	q.Skills = x.possible()
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

// possible are the skills that a call may be for which does not say it; nil where it is
// for none.
func (x *exchange) possible() []string {
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
