package authorize

import (
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// spend: has the caller room for this call? What it takes is given back by finish.
//
// A client who comes back to a stream whose place is still held does not need a second one. The
// RateLimit headers are set at once, so that refusals by later stages have them too.
func (az *Authorizer) spend(x *exchange.Exchange) error {
	if az.Limits == nil || x.LimitPass != nil { // it has paid: the call is judged again
		return nil
	}
	c := &limits.Call{
		ID: x.Rec.RequestID, Principal: x.Principal, Agent: x.Agent.ID, Skill: x.Skill, Skills: possibleSkills(x), Method: x.Call.Method,
		Source: x.Source(), Bytes: x.Rec.RequestBytes, Within: x.Agent.Upstream.Timeout(x.Call.Method.Name),
	}
	if x.Record.ID != "" {
		c.Task = &x.Record
	}
	if task := az.Resumes(x); task != "" && x.Resumed == nil {
		x.Resumed = az.Streams.Resume(x.Principal.Key(), record.FeedOf(x.Agent.ID, task))
	}
	c.Placed = x.Resumed != nil
	pass, err := az.Limits.Admit(x.Ctx, c)
	if err != nil {
		return err
	}
	x.LimitPass = pass
	if pass != nil {
		record.ShowLimits(x.Writer.Header(), pass.Standings)
	}
	return nil
}
