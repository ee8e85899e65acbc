package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// askAuthorizers: do the authorizers that the configuration names allow it too?
func (az *authorizer) askAuthorizers(x *exchange.Exchange) error {
	if az.Panel == nil {
		return nil
	}
	q := &pdp.Question{
		Principal: x.Principal, Agent: x.Agent.ID, Skill: x.Skill, Verb: x.Request.Method,
		Method: x.Call.Method, Binding: x.Call.Binding, Version: x.Call.Version,
		TaskID: x.Call.TaskID, ContextID: x.Call.ContextID, Extensions: x.Asked,
		Source: x.Source(), Host: x.Request.Host, Path: x.Request.URL.Path, RequestID: x.Rec.RequestID, Now: x.Rec.Start,
	}
	q.Skills = possibleSkills(x)
	if az.Panel.Reads(x.Agent.ID) {
		var err error
		if q.Message, err = az.message(x); err != nil {
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
	case x.Decision.Skills != nil:
		return x.Decision.Skills
	}
	return x.View.Skills
}

// gatherConditions gathers what rules may ask about a call beside who makes it: the extensions it
// asks for, the task it names, and, where some rule looks into them, what it brings.
func (in *inspector) gatherConditions(x *exchange.Exchange) error {
	asked, names, err := ext.Requested(x.Request.Header, ext.Limits{})
	if err != nil {
		return wire.Errorf(wire.InvalidRequest, "%s", err).Because(err)
	}
	x.Asked, x.Names = asked, names
	if r := &x.Record; r.ID != "" {
		x.Known = intake.Recorded(r)
		if r.Owner != x.Principal.Key() {
			x.Rec.Sharing = in.Policy.Shares(x.Principal, x.Agent.ID, x.Call.Method, &x.Known)
		}
	}
	if in.Policy.Reads(x.Agent.ID) || x.Agent.Match.Reads() {
		_, err = in.message(x)
	}
	return err
}

// message reads what the call brings, at most once; nil for calls without a message.
// Those who judge contents ask for it, so that calls which nobody judges cost nothing.
// It is the caller's: extensions' defaults and hooks come later.
func (in *inspector) message(x *exchange.Exchange) (*wire.Message, error) {
	if b := &x.CallMessage; !b.Read {
		b.Read = true
		x.Mend()
		m, e := x.Call.ReadMessage()
		if b.Message = m; e != nil {
			b.Err = e
		}
	}
	return x.CallMessage.Message, x.CallMessage.Err
}
