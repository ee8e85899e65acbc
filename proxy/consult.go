package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// consult: do the authorizers that the configuration names allow it too?
func (p *Proxy) consult(x *exchange) error {
	if p.Panel == nil {
		return nil
	}
	q := &pdp.Question{
		Principal: x.principal, Agent: x.agent.ID, Skill: x.skill, Verb: x.r.Method,
		Method: x.call.Method, Binding: x.call.Binding, Version: x.call.Version,
		TaskID: x.call.TaskID, ContextID: x.call.ContextID, Extensions: x.asked,
		Source: x.source(), Host: x.r.Host, Path: x.r.URL.Path, RequestID: x.rec.RequestID, Now: x.rec.Start,
	}
	if !x.agentwide {
		q.Skills = x.view.skills
		if x.decision.Skills != nil {
			q.Skills = x.decision.Skills
		}
	}
	if p.Panel.Reads(x.agent.ID) {
		var err error
		if q.Message, err = p.message(x); err != nil {
			return err
		}
	}
	var err error
	x.rec.Authorizers, err = p.Panel.Ask(x.ctx, q)
	return err
}

// turnedDown answers a call that an authorizer refused: somebody who may make other
// calls on the agent, as the rules allowed this one, so that nothing is given away.
func turnedDown(r *pdp.Refused) *wire.Error {
	if r.Err != nil {
		return later("5", "the call cannot be authorized at the moment").Because(r)
	}
	return wire.Errorf(wire.Denied, "").Because(r)
}
