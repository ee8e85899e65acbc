package record

import (
	"cmp"
	"context"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ShowLimits adds RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers).
func ShowLimits(h http.Header, list []limits.Standing) {
	if len(list) == 0 {
		return
	}
	policy, limit := limits.Headers(list)
	h.Set("RateLimit-Policy", policy)
	h.Set("RateLimit", limit)
}

// exceeded answers a call that a limit has no room for.
func (rc *Recorder) exceeded(x *exchange.Exchange, e *limits.Exceeded) *wire.Error {
	x.Rec.Limit = e.Name
	rc.Telemetry.Metrics.Policy.Limited(e.Name)
	if e.Size {
		return wire.Errorf(wire.TooLarge, "%s (limit %s)", e.Reason, e.Name).Because(e)
	}
	refusal := wire.Errorf(wire.RateLimited, "%s (limit %s)", e.Reason, e.Name).Because(e)
	refusal.Header = http.Header{}
	if after := limits.RetryAfter(e.After); after != "" {
		refusal.Header.Set("Retry-After", after)
	}
	ShowLimits(refusal.Header, e.Standings)
	return refusal
}

// settleAccount gives back what the call held. The end of an answer leaves when the
// handler is done, so that whoever has it finds the place free.
//
// The pass is kept, not released, where the client has left while the agent may still work: the
// limit is about the agent's work.
func (rc *Recorder) settleAccount(x *exchange.Exchange) {
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
			rc.Streams.Abandon(x.Principal.Key(), FeedOf(x.Agent.ID, task), x.LimitPass)
		}
		return
	}
	x.LimitPass.Release(ctx)
}
