package proxy

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// spend: has the caller room for this call? What it takes is given back by finish.
func (az *authorizer) spend(x *exchange) error {
	if az.Limits == nil || x.limitPass != nil { // it has paid: the call is judged again
		return nil
	}
	c := &limits.Call{
		ID: x.rec.RequestID, Principal: x.principal, Agent: x.agent.ID, Skill: x.skill, Skills: possibleSkills(x), Method: x.call.Method,
		Source: x.source(), Bytes: x.rec.RequestBytes, Within: x.agent.Upstream.Timeout(x.call.Method.Name),
	}
	if x.record.ID != "" {
		c.Task = &x.record
	}
	if task := az.resumes(x); task != "" && x.resumed == nil {
		x.resumed = az.Streams.Resume(x.principal.Key(), feedOf(x.agent.ID, task))
	}
	c.Placed = x.resumed != nil
	pass, err := az.Limits.Admit(x.ctx, c)
	if err != nil {
		return err
	}
	x.limitPass = pass
	if pass != nil {
		showLimits(x.w.Header(), pass.Standings)
	}
	return nil
}

// source is the caller's address, the zero Addr when there is none.
func (x *fromClient) source() netip.Addr { return x.client.Unmap() }

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
func (rc *recorder) exceeded(x *exchange, e *limits.Exceeded) *wire.Error {
	x.rec.Limit = e.Name
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

// tally tells the limits of the tasks that an answer shows. Several goroutines may do so.
func (x *exchange) tally(seen wire.Answer) {
	if len(seen.Tasks) != 1 || seen.Kind == "list" || seen.State == "" {
		return
	}
	if x.resumed != nil && terminal(seen.State) && seen.Tasks[0].ID == x.call.TaskID {
		x.resumed.Done()
	}
	if x.limitPass == nil {
		return
	}
	x.limitPass.Task(x.ctx, seen.Tasks[0].ID, !terminal(seen.State))
}

// settleAccount gives back what the call held. The end of an answer leaves when the
// handler is done, so that whoever has it finds the place free.
func (rc *recorder) settleAccount(x *exchange) {
	ctx := context.WithoutCancel(x.ctx)
	if x.resumed != nil { // the agent's stream has it, not this call
		x.resumed.Leave(ctx)
	}
	if x.limitPass == nil {
		return
	}
	if x.left && !x.sent.IsZero() {
		x.limitPass.Leave(ctx)
		if task := cmp.Or(x.rec.TaskID, x.call.TaskID); task != "" {
			rc.Streams.Abandon(x.principal.Key(), feedOf(x.agent.ID, task), x.limitPass)
		}
		return
	}
	x.limitPass.Release(ctx)
}

// outlive has a call with a place among those that may run at the same time go on when its
// client hangs up, until the agent's answer is there or is late. Agents need not notice that
// nobody waits any more, or stop for it: were the place free with the connection, a caller
// could have any number of jobs done at once by hanging up on each. Other calls end with
// their client, and so do subscriptions, which have the agent do nothing.
func (cu *cursors) outlive(x *exchange) error {
	if !x.limitPass.Holds() || x.call.Streaming && cu.resumes(x) != "" {
		return nil
	}
	if x.ctx.Err() != nil { // it has not been sent
		return context.Cause(x.ctx)
	}
	x.ctx, x.outlives = context.WithoutCancel(x.ctx), true
	return nil
}

// holdPlace has the places of the call taken until the agent's stream is done with.
func (se *sessions) holdPlace(x *exchange, stop func()) func() {
	if !x.outlives {
		return stop
	}
	limitPass, free := x.limitPass, x.limitPass.Hold()
	return func() {
		stop()
		free()
		se.Streams.Forget(limitPass)
	}
}

// resumes is the task that a call asks after and has nothing done on; "" for none. Who has
// left its stream can ask for it without another place.
func (cu *cursors) resumes(x *exchange) string {
	if m := x.call.Method; m.Extension == "" && m.Subject == wire.OfTask {
		return x.call.TaskID
	}
	var m mark
	if lines := x.r.Header[resumeHeader]; x.call.Streaming && len(lines) == 1 && cu.readMark(x, lines[0], &m) {
		return m.task
	}
	return ""
}
