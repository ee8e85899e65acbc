package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// notificationMethod is what records call the delivery of an agent.
const notificationMethod = "PushNotification"

// notification is what an agent posts to a webhook of the gateway's.
type notification struct {
	hook  *push.Webhook
	body  []byte
	speak wire.Version // what it is written in
	seen  wire.Answer
	id    string          // what it is delivered as
	began string          // traceparent of the call that its task was first seen in, unless that registered the webhook
	name  []byte          // by which a second of the same is known; nil for none
	end   func(told bool) // told whether the agent knows that it was taken; nil where that does not matter
}

// declined answers an agent's delivery with a status and nothing else: whoever has found
// the address learns nothing from it.
type declined struct {
	status int
	reason string
	after  string // Retry-After
	cause  error
}

// Error is for the record.
func (d *declined) Error() string {
	if d.cause != nil {
		return d.reason + ": " + d.cause.Error()
	}
	return d.reason
}

// notified takes an agent's delivery in: 200 once it is queued.
func (fw *forwarder) notified(x *exchange.Exchange) error {
	x.Rec.Method = notificationMethod
	if _, err := fw.screen(x); err != nil {
		return err
	}
	n := new(notification)
	taken := false
	x.Ended = func() {
		if n.end != nil {
			n.end(taken && x.Received())
		}
	}
	err := fw.takeNotification(x, n)
	taken = err == nil
	var d *declined
	switch {
	case err == nil:
		x.Writer.Header().Set("Content-Length", "0")
		x.Writer.WriteHeader(http.StatusOK)
	case errors.As(err, &d):
		x.Rec.Reason, x.Rec.Cause, x.Rec.Decision = d.reason, d.Error(), decisionDeny
		if d.after != "" {
			x.Writer.Header().Set("Retry-After", d.after)
		}
		if d.status >= http.StatusInternalServerError {
			x.Rec.Decision = "error"
		}
		x.Writer.WriteHeader(d.status)
	default:
		return err
	}
	return nil
}

func (fw *forwarder) takeNotification(x *exchange.Exchange, n *notification) (err error) {
	if n.hook, err = fw.admitNotification(x); err != nil {
		return err
	}
	fw.Telemetry.JoinRegistration(&x.Rec, n.hook.Trace)
	if err := fw.readNotification(x, n); err != nil {
		return err
	}
	if err := fw.ownNotification(x, n); err != nil {
		return err
	}
	fresh, err := fw.firstNotification(x, n)
	if err != nil || !fresh {
		return err
	}
	if err := fw.witnessNotification(x, n); err != nil {
		return &declined{status: http.StatusBadRequest, reason: wire.BadAgentResponse.Reason, cause: err}
	}
	if err := fw.passNotification(x, n); err != nil {
		return err // the agent is to send it again
	}
	if n.name == nil {
		return nil
	}
	if err := fw.Relay.Hooks.Taken(context.WithoutCancel(x.Ctx), n.hook, n.name); err != nil {
		fw.Telemetry.Log.Warn("a notification that was taken is taken again if its agent sends it again",
			"request_id", x.Rec.RequestID, "error", err)
	}
	return nil
}

// ownNotification: is it about the task that the webhook is for? One that came with a
// send may not know its task yet; then it becomes the owner's, unless it is somebody
// else's (A1, A19).
func (no *notifications) ownNotification(x *exchange.Exchange, n *notification) error {
	h := n.hook
	no.stateOf(x, n.seen.State)
	for _, t := range n.seen.Tasks {
		x.Rec.TaskID, x.Rec.ContextID = t.ID, t.ContextID
		if h.Task != "" && t.ID != h.Task || len(n.seen.Tasks) > 1 {
			return &declined{status: http.StatusForbidden, reason: "OTHER_TASK"}
		}
	}
	from := ledger.Origin{
		Agent: h.Agent, Skill: h.Skill, Endpoint: h.Endpoint, Version: string(h.Version),
		Method: createConfig, Task: h.Task, Alias: h.Foreign.Agent, Called: h.Foreign.Caller,
		// A task that is not known yet comes from the call that brought the webhook.
		Trace: cmp.Or(no.Telemetry.AnchorOf(h.Trace), x.Rec.Anchor()),
	}
	first, err := no.Ledger.Learn(x.Ctx, x.Principal, from, n.seen)
	switch {
	case errors.Is(err, ledger.ErrAbsent):
		return &declined{status: http.StatusForbidden, reason: "OTHER_TASK", cause: err}
	case err != nil:
		return unkept(err)
	case len(n.seen.Tasks) == 0:
		return nil
	}
	x.Rec.Agent = h.Agent
	no.Telemetry.JoinTask(&x.Rec, first.Trace)
	if first.Trace != no.Telemetry.AnchorOf(h.Trace) {
		n.began = no.Telemetry.ParentOf(first.Trace)
	}
	task := n.seen.Tasks[0]
	if err := no.Relay.Hooks.Bind(context.WithoutCancel(x.Ctx), h, task.ID, task.ContextID, "", false); err != nil {
		return unkept(err)
	}
	return nil
}

// firstNotification reports whether it has not come before. A second of the same is taken
// as the first was, and goes nowhere (A19): an agent that had no answer sends again. What
// is the same, its id says, or where the agent is known to repeat itself its body. One
// that was begun and not queued goes on under the id it had, so that whatever was queued
// of it is the same to its receiver.
func (wh *webhooks) firstNotification(x *exchange.Exchange, n *notification) (bool, error) {
	if id := x.Request.Header.Get("Webhook-Id"); id != "" {
		n.name = []byte("id " + id)
	} else if x.Agent.RepeatsNotifications {
		n.name = append([]byte("body "), n.body...)
	}
	id, err := "msg_"+uuid.NewString(), error(nil)
	if n.name == nil {
		var end func(bool)
		if n.id, end, err = wh.relay.Hooks.Begin(x.Ctx, n.hook, n.body, id); err != nil {
			return false, unkept(err)
		}
		n.end = end
		return true, nil
	}
	if n.id, err = wh.relay.Hooks.First(x.Ctx, n.hook, n.name, id); err != nil {
		return false, unkept(err)
	}
	if n.id == "" {
		x.Rec.Reason = "REPLAYED"
	}
	return n.id != "", nil
}

// passNotification retells it and queues it.
func (fw *forwarder) passNotification(x *exchange.Exchange, n *notification) error {
	h := n.hook
	body, err := fw.retellNotification(x, n)
	var e *wire.Error
	switch {
	case errors.As(err, &e) && e.Kind == wire.Unsupported:
		x.Rec.Reason = e.Reason // the caller's version has no word for it, however often it is sent
		return nil
	case err != nil:
		return &declined{status: http.StatusBadRequest, reason: wire.BadAgentResponse.Reason, cause: err}
	}
	_, err = fw.Relay.Queue.Enqueue(context.WithoutCancel(x.Ctx), &push.Delivery{
		ID: n.id, Agent: h.Agent, Task: h.Shows(), Config: h.ID(), Name: h.Config, Owner: h.Owner,
		URL: h.URL, Version: h.Version, Body: body, Traceparent: fw.traceOf(x, h),
		Registered: h.Trace, Notified: fw.traceparent(x), Began: n.began,
		Token: h.Token, Scheme: h.Scheme, Credentials: h.Credentials,
	})
	if err != nil {
		if errors.Is(err, state.ErrFull) {
			x.Rec.Limit = "push.queue"
		}
		return unkept(err)
	}
	if err := fw.Relay.Hooks.Used(context.WithoutCancel(x.Ctx), h, exchange.Terminal(n.seen.State)); err != nil {
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

// unkept is a delivery that cannot be kept now. The agent is to send it again.
func unkept(err error) error {
	after := "5"
	if errors.Is(err, state.ErrFull) {
		after = "60"
	}
	return &declined{status: http.StatusServiceUnavailable, reason: wire.Unavailable.Reason, after: after, cause: err}
}

// admitNotification: whose webhook is it, and is it the agent's own that delivers?
func (no *notifications) admitNotification(x *exchange.Exchange) (*push.Webhook, error) {
	h, err := no.Relay.Hooks.Find(x.Ctx, strings.TrimPrefix(x.Site.Rest, "/"))
	if err != nil {
		return nil, unkept(err)
	}
	if h == nil || no.agents[h.Agent] == nil {
		return nil, &declined{status: http.StatusNotFound, reason: "UNKNOWN_WEBHOOK"}
	}
	x.Agent, x.Skill = no.agents[h.Agent], h.Skill
	x.Principal = &authn.Principal{Subject: h.Subject, Issuer: h.Issuer, Tenant: h.Tenant, Method: "webhook"}
	x.Rec.TaskID, x.Rec.ContextID, x.Rec.Endpoint = h.Task, h.Context, h.Endpoint
	x.Call.Binding, x.Call.Version = wire.HTTPJSON, h.Speaks
	if x.Request.Method != http.MethodPost {
		x.Writer.Header().Set("Allow", http.MethodPost)
		return nil, &declined{status: http.StatusMethodNotAllowed, reason: wire.VerbNotAllowed.Reason}
	}
	if no.Relay.Hooks.Late(h) {
		return nil, &declined{status: http.StatusGone, reason: "TASK_ENDED"}
	}
	if err := no.countNotification(x, h); err != nil {
		return nil, err
	}
	if !proven(x.Request.Header, h) {
		return nil, &declined{status: http.StatusUnauthorized, reason: wire.Unauthenticated.Reason}
	}
	if !no.timely(x.Request.Header) {
		return nil, &declined{status: http.StatusForbidden, reason: "LATE"}
	}
	return h, nil
}

// countNotification holds one config to push.perConfig.
func (wh *webhooks) countNotification(x *exchange.Exchange, h *push.Webhook) error {
	rate := int64(wh.relay.Hooks.Config().PerConfig)
	drawn, err := wh.relay.Counts.Draw(x.Ctx, []state.Draw{{
		Key: "push " + h.ID(), Kind: state.Rate, Limit: 10 * rate, Cost: 1, Refill: rate, Period: second,
	}})
	if err != nil {
		return unkept(err)
	}
	if !drawn[0].OK {
		x.Rec.Limit = "push.perConfig"
		return &declined{
			status: http.StatusTooManyRequests, reason: wire.RateLimited.Reason,
			after: strconv.Itoa(int(drawn[0].Wait/second) + 1),
		}
	}
	return nil
}
