package webhooks

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// Notification is what an agent posts to a webhook of the gateway's.
type Notification struct {
	Hook  *push.Webhook
	Body  []byte
	Speak wire.Version // what it is written in
	Seen  wire.Answer
	ID    string          // what it is delivered as
	Began string          // traceparent of the call that its task was first seen in, unless that registered the webhook
	Name  []byte          // by which a second of the same is known; nil for none
	End   func(told bool) // told whether the agent knows that it was taken; nil where that does not matter
}

// Declined answers an agent's delivery with a status and nothing else: whoever has found
// the address learns nothing from it.
type Declined struct {
	Status int
	Reason string
	After  string // Retry-After
	Cause  error
}

// Error is for the record.
func (d *Declined) Error() string {
	if d.Cause != nil {
		return d.Reason + ": " + d.Cause.Error()
	}
	return d.Reason
}

// FirstNotification reports whether it has not come before. A second of the same is taken
// as the first was, and goes nowhere (A19): an agent that had no answer sends again. What
// is the same, its id says, or where the agent is known to repeat itself its body. One
// that was begun and not queued goes on under the id it had, so that whatever was queued
// of it is the same to its receiver.
func (wh *Webhooks) FirstNotification(x *exchange.Exchange, n *Notification) (bool, error) {
	if id := x.Request.Header.Get("Webhook-Id"); id != "" {
		n.Name = []byte("id " + id)
	} else if x.Agent.RepeatsNotifications {
		n.Name = append([]byte("body "), n.Body...)
	}
	id, err := "msg_"+uuid.NewString(), error(nil)
	if n.Name == nil {
		var end func(bool)
		if n.ID, end, err = wh.Relay.Hooks.Begin(x.Ctx, n.Hook, n.Body, id); err != nil {
			return false, Unkept(err)
		}
		n.End = end
		return true, nil
	}
	if n.ID, err = wh.Relay.Hooks.First(x.Ctx, n.Hook, n.Name, id); err != nil {
		return false, Unkept(err)
	}
	if n.ID == "" {
		x.Rec.Reason = "REPLAYED"
	}
	return n.ID != "", nil
}

// Unkept is a delivery that cannot be kept now. The agent is to send it again.
func Unkept(err error) error {
	after := "5"
	if errors.Is(err, state.ErrFull) {
		after = "60"
	}
	return &Declined{Status: http.StatusServiceUnavailable, Reason: wire.Unavailable.Reason, After: after, Cause: err}
}

// CountNotification holds one config to push.perConfig.
func (wh *Webhooks) CountNotification(x *exchange.Exchange, h *push.Webhook) error {
	rate := int64(wh.Relay.Hooks.Config().PerConfig)
	drawn, err := wh.Relay.Counts.Draw(x.Ctx, []state.Draw{{
		Key: "push " + h.ID(), Kind: state.Rate, Limit: 10 * rate, Cost: 1, Refill: rate, Period: second,
	}})
	if err != nil {
		return Unkept(err)
	}
	if !drawn[0].OK {
		x.Rec.Limit = "push.perConfig"
		return &Declined{
			Status: http.StatusTooManyRequests, Reason: wire.RateLimited.Reason,
			After: strconv.Itoa(int(drawn[0].Wait/second) + 1),
		}
	}
	return nil
}
