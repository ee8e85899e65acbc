package authorize

import (
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// AskAuthorizers: do the authorizers that the configuration names allow it too?
func (az *Authorizer) AskAuthorizers(x *exchange.Exchange) error {
	if az.Panel == nil {
		return nil
	}
	q := &pdp.Question{
		Principal: x.Principal, Agent: x.Agent.ID, Skill: x.Skill, Verb: x.Request.Method,
		Method: x.Call.Method, Binding: x.Binding(), Version: x.Call.Version,
		TaskID: x.Call.TaskID, ContextID: x.Call.ContextID, Extensions: x.Asked,
		Source: x.Source(), Host: x.Request.Host, Path: x.Request.URL.Path, RequestID: x.Rec.RequestID, Now: x.Rec.Start,
	}
	q.Skills = possibleSkills(x)
	if az.Panel.Reads(x.Agent.ID) {
		var err error
		if q.Message, err = az.MessageOf(x); err != nil {
			return err
		}
	}
	var err error
	x.Rec.Authorizers, err = az.Panel.Ask(x.Ctx, q)
	return err
}

// possibleSkills are the skills that a call may be for which does not say it; nil where it is
// for none.
func possibleSkills(x *exchange.Exchange) []string {
	switch {
	case x.Agentwide:
		return nil
	case x.Rec.Skills != nil:
		return x.Rec.Skills
	}
	return x.View.Skills
}
