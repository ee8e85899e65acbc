package forward

import (
	"context"
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// notificationMethod is what records call the delivery of an agent.
const notificationMethod = "PushNotification"

// ServeNotification takes an agent's delivery in: 200 once it is queued.
//
// The answer is written before the record is concluded, and Ended tells the registry whether the
// agent has it: a notification without an id whose answer got lost is otherwise queued twice.
func (fw *Forwarder) ServeNotification(x *exchange.Exchange) error {
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

// takeNotification takes one delivery of an agent's in, and leaves in n what it has found out.
// The order: whose webhook it is, what is in the body, whether its task is the webhook's, whether
// it has come before, whether it contradicts what was shown. Only then is it queued, and only
// when it is queued is its name marked as taken.
func (fw *Forwarder) takeNotification(x *exchange.Exchange, n *webhooks.Notification) (err error) {
	if n.Hook, err = fw.AdmitNotification(x); err != nil {
		return err
	}
	fw.Telemetry.JoinRegistration(&x.Rec, n.Hook.Trace)
	if err := fw.ReadNotification(x, n); err != nil {
		return err
	}
	if err := fw.OwnNotification(x, n); err != nil {
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

// passNotification retells it and queues it.
//
// An update that the receiver's version has no word for is taken and goes nowhere: to send it
// again would change nothing.
func (fw *Forwarder) passNotification(x *exchange.Exchange, n *webhooks.Notification) error {
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
		URL: h.URL, Version: h.Version, Body: body, Traceparent: fw.TraceOf(x, h),
		Registered: h.Trace, Notified: fw.Traceparent(x), Began: n.Began,
		Token: h.Token, Scheme: h.Scheme, Credentials: h.Credentials,
	})
	if err != nil {
		if errors.Is(err, state.ErrFull) {
			x.Rec.Limit = "push.queue"
		}
		return webhooks.Unkept(err)
	}
	if err := fw.Relay.Hooks.Used(context.WithoutCancel(x.Ctx), h, taskstate.Terminal(n.Seen.State)); err != nil {
		fw.Telemetry.Log.Warn("the use of a webhook was not written down", "request_id", x.Rec.RequestID, "error", err)
	}
	return nil
}
