package admit

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// Caller is what the agent's credentials may depend on; nil where they depend on nothing.
func (au *Authenticator) Caller(x *exchange.Exchange, l *exchange.UpstreamCall) *credentials.Caller {
	if !x.Agent.Upstream.Asks() {
		return nil
	}
	c := &credentials.Caller{
		Principal: x.Principal, Header: x.Request.Header, Agent: x.Agent.ID, Target: l.URL, Shared: au.Origins.Others(l.URL, x.Agent.ID), Method: l.Call.Method.Name,
		Task: l.Call.TaskID, Context: l.Call.ContextID, Extensions: x.Terms.Send, Demanded: l.Shows,
	}
	c.Token = au.Authn.Token(x.Principal, x.Request.Header)
	if x.Principal.Workload != nil {
		c.Workload = au.Authn.Token(x.Principal.Workload, x.Request.Header)
	}
	switch {
	case x.Skill != "":
		c.Skills = []string{x.Skill}
	case !x.Agentwide:
		c.Skills = x.View.Skills // all of them had to be allowed
		if x.Rec.Skills != nil {
			c.Skills = x.Rec.Skills // one was enough
		}
	}
	return c
}
