package proxy

import (
	"cmp"
	"context"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// spend: has the caller room for this call? What it takes is given back by finish.
func (az *authorizer) spend(x *exchange.Exchange) error {
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
	if task := az.resumes(x); task != "" && x.Resumed == nil {
		x.Resumed = az.Streams.Resume(x.Principal.Key(), feedOf(x.Agent.ID, task))
	}
	c.Placed = x.Resumed != nil
	pass, err := az.Limits.Admit(x.Ctx, c)
	if err != nil {
		return err
	}
	x.LimitPass = pass
	if pass != nil {
		showLimits(x.Writer.Header(), pass.Standings)
	}
	return nil
}

// showLimits adds RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers).
func showLimits(h http.Header, list []limits.Standing) {
	if len(list) == 0 {
		return
	}
	policy, limit := limits.Headers(list)
	h.Set("RateLimit-Policy", policy)
	h.Set("RateLimit", limit)
}

// exceeded answers a call that a limit has no room for.
func (rc *recorder) exceeded(x *exchange.Exchange, e *limits.Exceeded) *wire.Error {
	x.Rec.Limit = e.Name
	rc.Telemetry.Metrics.Limited(e.Name)
	if e.Size {
		return wire.Errorf(wire.TooLarge, "%s (limit %s)", e.Reason, e.Name).Because(e)
	}
	refusal := wire.Errorf(wire.RateLimited, "%s (limit %s)", e.Reason, e.Name).Because(e)
	refusal.Header = http.Header{}
	if after := limits.RetryAfter(e.After); after != "" {
		refusal.Header.Set("Retry-After", after)
	}
	showLimits(refusal.Header, e.Standings)
	return refusal
}

// settleAccount gives back what the call held. The end of an answer leaves when the
// handler is done, so that whoever has it finds the place free.
func (rc *recorder) settleAccount(x *exchange.Exchange) {
	ctx := context.WithoutCancel(x.Ctx)
	if x.Resumed != nil { // the agent's stream has it, not this call
		x.Resumed.Leave(ctx)
	}
	if x.LimitPass == nil {
		return
	}
	if x.Left && !x.Sent.IsZero() {
		x.LimitPass.Leave(ctx)
		if task := cmp.Or(x.Rec.TaskID, x.Call.TaskID); task != "" {
			rc.Streams.Abandon(x.Principal.Key(), feedOf(x.Agent.ID, task), x.LimitPass)
		}
		return
	}
	x.LimitPass.Release(ctx)
}

// outlive has a call with a place among those that may run at the same time go on when its
// client hangs up, until the agent's answer is there or is late. Agents need not notice that
// nobody waits any more, or stop for it: were the place free with the connection, a caller
// could have any number of jobs done at once by hanging up on each. Other calls end with
// their client, and so do subscriptions, which have the agent do nothing.
func (cu *cursors) outlive(x *exchange.Exchange) error {
	if !x.LimitPass.Holds() || x.Call.Streaming && cu.resumes(x) != "" {
		return nil
	}
	if x.Ctx.Err() != nil { // it has not been sent
		return context.Cause(x.Ctx)
	}
	x.Ctx, x.Outlives = context.WithoutCancel(x.Ctx), true
	return nil
}

// holdPlace has the places of the call taken until the agent's stream is done with.
func (se *sessions) holdPlace(x *exchange.Exchange, stop func()) func() {
	if !x.Outlives {
		return stop
	}
	limitPass, free := x.LimitPass, x.LimitPass.Hold()
	return func() {
		stop()
		free()
		se.Streams.Forget(limitPass)
	}
}

// resumes is the task that a call asks after and has nothing done on; "" for none. Who has
// left its stream can ask for it without another place.
func (cu *cursors) resumes(x *exchange.Exchange) string {
	if m := x.Call.Method; m.Extension == "" && m.Subject == wire.OfTask {
		return x.Call.TaskID
	}
	var m mark
	if lines := x.Request.Header[resumeHeader]; x.Call.Streaming && len(lines) == 1 && cu.readMark(x, lines[0], &m) {
		return m.task
	}
	return ""
}
