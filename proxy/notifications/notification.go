package notifications

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// OwnNotification: is it about the task that the webhook is for? One that came with a
// send may not know its task yet; then it becomes the owner's, unless it is somebody
// else's (A1, A19).
//
// The ledger learns the task as the owner's, insert-only, by the same function that learns from
// answers: an agent that posts another caller's task is refused with 403. The webhook is then
// bound to the task, so that the next notification can be compared.
func (no *Notifications) OwnNotification(x *exchange.Exchange, n *webhooks.Notification) error {
	h := n.Hook
	no.StateOf(x, n.Seen.State)
	for _, t := range n.Seen.Tasks {
		x.Rec.TaskID, x.Rec.ContextID = t.ID, t.ContextID
		if h.Task != "" && t.ID != h.Task || len(n.Seen.Tasks) > 1 {
			return &webhooks.Declined{Status: http.StatusForbidden, Reason: "OTHER_TASK"}
		}
	}
	from := ledger.Origin{
		Agent: h.Agent, Skill: h.Skill, Endpoint: h.Endpoint, Version: string(h.Version),
		Method: ownership.CreateConfig, Task: h.Task, Alias: h.Foreign.Agent, Called: h.Foreign.Caller,
		// A task that is not known yet comes from the call that brought the webhook.
		Trace: cmp.Or(no.Telemetry.AnchorOf(h.Trace), x.Rec.Anchor()),
	}
	first, err := no.Ledger.Learn(x.Ctx, x.Principal, from, n.Seen)
	switch {
	case errors.Is(err, ledger.ErrAbsent):
		return &webhooks.Declined{Status: http.StatusForbidden, Reason: "OTHER_TASK", Cause: err}
	case err != nil:
		return webhooks.Unkept(err)
	case len(n.Seen.Tasks) == 0:
		return nil
	}
	x.Rec.Agent = h.Agent
	no.Telemetry.JoinTask(&x.Rec, first.Trace)
	if first.Trace != no.Telemetry.AnchorOf(h.Trace) {
		n.Began = no.Telemetry.ParentOf(first.Trace)
	}
	task := n.Seen.Tasks[0]
	if err := no.Relay.Hooks.Bind(context.WithoutCancel(x.Ctx), h, task.ID, task.ContextID, "", false); err != nil {
		return webhooks.Unkept(err)
	}
	return nil
}

// TraceOf is the trace that a delivery belongs to: the one that the agent goes on with,
// or else that of the call that registered the webhook, which the task began in.
func (no *Notifications) TraceOf(x *exchange.Exchange, h *push.Webhook) string {
	if x.Request.Header.Get("Traceparent") == "" && h.Trace != "" {
		return h.Trace
	}
	return no.Traceparent(x)
}

// Traceparent is the trace context that goes out; "" for none.
func (no *Notifications) Traceparent(x *exchange.Exchange) string {
	h := http.Header{}
	no.Telemetry.Carry(x.Ctx, &x.Rec, h)
	return h.Get("Traceparent")
}

// AdmitNotification: whose webhook is it, and is it the agent's own that delivers?
//
// The order is that of cost and of what it tells: the rate comes before the secret is compared,
// so that guessing is slow, and the time comes last, as it says something only to an agent that
// has proved to be the right one.
func (no *Notifications) AdmitNotification(x *exchange.Exchange) (*push.Webhook, error) {
	h, err := no.Relay.Hooks.Find(x.Ctx, strings.TrimPrefix(x.Site.Rest, "/"))
	if err != nil {
		return nil, webhooks.Unkept(err)
	}
	if h == nil || no.Agents[h.Agent] == nil {
		return nil, &webhooks.Declined{Status: http.StatusNotFound, Reason: "UNKNOWN_WEBHOOK"}
	}
	x.Agent, x.Skill = no.Agents[h.Agent], h.Skill
	x.Principal = &authn.Principal{Subject: h.Subject, Issuer: h.Issuer, Tenant: h.Tenant, Method: "webhook"}
	x.Rec.TaskID, x.Rec.ContextID, x.Rec.Endpoint = h.Task, h.Context, h.Endpoint
	x.Call.Binding, x.Call.Version = wire.HTTPJSON, h.Speaks
	if x.Request.Method != http.MethodPost {
		x.Writer.Header().Set("Allow", http.MethodPost)
		return nil, &webhooks.Declined{Status: http.StatusMethodNotAllowed, Reason: wire.VerbNotAllowed.Reason}
	}
	if no.Relay.Hooks.Late(h) {
		return nil, &webhooks.Declined{Status: http.StatusGone, Reason: "TASK_ENDED"}
	}
	if err := no.CountNotification(x, h); err != nil {
		return nil, err
	}
	if !proven(x.Request.Header, h) {
		return nil, &webhooks.Declined{Status: http.StatusUnauthorized, Reason: wire.Unauthenticated.Reason}
	}
	if !no.Timely(x.Request.Header) {
		return nil, &webhooks.Declined{Status: http.StatusForbidden, Reason: "LATE"}
	}
	return h, nil
}
