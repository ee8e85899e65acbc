package proxy

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// spend: has the caller room for this call? What it takes is given back by finish.
func (p *Proxy) spend(x *exchange) error {
	if p.Limits == nil || x.toll != nil { // it has paid: the call is judged again
		return nil
	}
	c := &limits.Call{
		ID: x.rec.RequestID, Principal: x.principal, Agent: x.agent.ID, Skill: x.skill, Skills: x.possible(), Method: x.call.Method,
		Source: x.source(), Bytes: x.rec.RequestBytes, Within: x.agent.Upstream.Timeout(x.call.Method.Name),
	}
	if x.record.ID != "" {
		c.Task = &x.record
	}
	pass, err := p.Limits.Admit(x.ctx, c)
	if err != nil {
		return err
	}
	x.toll = pass
	if pass != nil {
		showLimits(x.w.Header(), pass.Standings)
	}
	return nil
}

// source is the caller's address, the zero Addr when there is none.
func (x *exchange) source() netip.Addr { return x.client.Unmap() }

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
func (p *Proxy) exceeded(x *exchange, e *limits.Exceeded) *wire.Error {
	x.rec.Limit = e.Name
	p.Telemetry.Metrics.Limited(e.Name)
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
	if x.toll == nil || len(seen.Tasks) != 1 || seen.Kind == "list" || seen.State == "" {
		return
	}
	x.toll.Task(x.ctx, seen.Tasks[0].ID, !terminal(seen.State))
}

// settleAccount gives back what the call held. The end of an answer leaves when the
// handler is done, so that whoever has it finds the place free.
func (x *exchange) settleAccount() {
	if x.toll == nil {
		return
	}
	ctx := context.WithoutCancel(x.ctx)
	if x.left && !x.sent.IsZero() {
		x.toll.Leave(ctx)
		return
	}
	x.toll.Release(ctx)
}
