package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// notificationMethod is what records call the delivery of an agent.
const notificationMethod = "PushNotification"

// notified takes an agent's delivery in: 200 once it is queued.
func (fw *forwarder) notified(x *exchange.Exchange) error {
	x.Rec.Method = notificationMethod
	if _, err := fw.Screen(x); err != nil {
		return err
	}
	n := new(webhooks.Notification)
	taken := false
	x.Ended = func() {
		if n.End != nil {
			n.End(taken && x.Received())
		}
	}
	err := fw.takeNotification(x, n)
	taken = err == nil
	var d *webhooks.Declined
	switch {
	case err == nil:
		x.Writer.Header().Set("Content-Length", "0")
		x.Writer.WriteHeader(http.StatusOK)
	case errors.As(err, &d):
		x.Rec.Reason, x.Rec.Cause, x.Rec.Decision = d.Reason, d.Error(), record.DecisionDeny
		if d.After != "" {
			x.Writer.Header().Set("Retry-After", d.After)
		}
		if d.Status >= http.StatusInternalServerError {
			x.Rec.Decision = "error"
		}
		x.Writer.WriteHeader(d.Status)
	default:
		return err
	}
	return nil
}

func (fw *forwarder) takeNotification(x *exchange.Exchange, n *webhooks.Notification) (err error) {
	if n.Hook, err = fw.admitNotification(x); err != nil {
		return err
	}
	fw.Telemetry.JoinRegistration(&x.Rec, n.Hook.Trace)
	if err := fw.readNotification(x, n); err != nil {
		return err
	}
	if err := fw.ownNotification(x, n); err != nil {
		return err
	}
	fresh, err := fw.FirstNotification(x, n)
	if err != nil || !fresh {
		return err
	}
	if err := fw.WitnessNotification(x, n); err != nil {
		return &webhooks.Declined{Status: http.StatusBadRequest, Reason: wire.BadAgentResponse.Reason, Cause: err}
	}
	if err := fw.passNotification(x, n); err != nil {
		return err // the agent is to send it again
	}
	if n.Name == nil {
		return nil
	}
	if err := fw.Relay.Hooks.Taken(context.WithoutCancel(x.Ctx), n.Hook, n.Name); err != nil {
		fw.Telemetry.Log.Warn("a notification that was taken is taken again if its agent sends it again",
			"request_id", x.Rec.RequestID, "error", err)
	}
	return nil
}

// ownNotification: is it about the task that the webhook is for? One that came with a
// send may not know its task yet; then it becomes the owner's, unless it is somebody
// else's (A1, A19).
func (no *notifications) ownNotification(x *exchange.Exchange, n *webhooks.Notification) error {
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

// passNotification retells it and queues it.
func (fw *forwarder) passNotification(x *exchange.Exchange, n *webhooks.Notification) error {
	h := n.Hook
	body, err := fw.retellNotification(x, n)
	var e *wire.Error
	switch {
	case errors.As(err, &e) && e.Kind == wire.Unsupported:
		x.Rec.Reason = e.Reason // the caller's version has no word for it, however often it is sent
		return nil
	case err != nil:
		return &webhooks.Declined{Status: http.StatusBadRequest, Reason: wire.BadAgentResponse.Reason, Cause: err}
	}
	_, err = fw.Relay.Queue.Enqueue(context.WithoutCancel(x.Ctx), &push.Delivery{
		ID: n.ID, Agent: h.Agent, Task: h.Shows(), Config: h.ID(), Name: h.Config, Owner: h.Owner,
		URL: h.URL, Version: h.Version, Body: body, Traceparent: fw.traceOf(x, h),
		Registered: h.Trace, Notified: fw.traceparent(x), Began: n.Began,
		Token: h.Token, Scheme: h.Scheme, Credentials: h.Credentials,
	})
	if err != nil {
		if errors.Is(err, state.ErrFull) {
			x.Rec.Limit = "push.queue"
		}
		return webhooks.Unkept(err)
	}
	if err := fw.Relay.Hooks.Used(context.WithoutCancel(x.Ctx), h, exchange.Terminal(n.Seen.State)); err != nil {
		fw.Telemetry.Log.Warn("the use of a webhook was not written down", "request_id", x.Rec.RequestID, "error", err)
	}
	return nil
}

// traceOf is the trace that a delivery belongs to: the one that the agent goes on with,
// or else that of the call that registered the webhook, which the task began in.
func (no *notifications) traceOf(x *exchange.Exchange, h *push.Webhook) string {
	if x.Request.Header.Get("Traceparent") == "" && h.Trace != "" {
		return h.Trace
	}
	return no.traceparent(x)
}

// traceparent is the trace context that goes out; "" for none.
func (no *notifications) traceparent(x *exchange.Exchange) string {
	h := http.Header{}
	no.Telemetry.Carry(x.Ctx, &x.Rec, h)
	return h.Get("Traceparent")
}

// admitNotification: whose webhook is it, and is it the agent's own that delivers?
func (no *notifications) admitNotification(x *exchange.Exchange) (*push.Webhook, error) {
	h, err := no.Relay.Hooks.Find(x.Ctx, strings.TrimPrefix(x.Site.Rest, "/"))
	if err != nil {
		return nil, webhooks.Unkept(err)
	}
	if h == nil || no.agents[h.Agent] == nil {
		return nil, &webhooks.Declined{Status: http.StatusNotFound, Reason: "UNKNOWN_WEBHOOK"}
	}
	x.Agent, x.Skill = no.agents[h.Agent], h.Skill
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
