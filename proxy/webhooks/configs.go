package webhooks

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// ForgetConfig ends the webhook of a config that the agent has deleted. One that came
// with a send has no id here until the agent shows it; if it is the only one of the
// task's without, it is meant.
//
// Deliveries that wait for it in the queue are dropped as well.
func (wh *Webhooks) ForgetConfig(ctx context.Context, x *exchange.Exchange) error {
	list, err := wh.Relay.Hooks.OfTask(ctx, x.Agent.ID, x.Call.TaskID)
	if err != nil {
		return err
	}
	var named, nameless []*push.Webhook
	for _, h := range list {
		switch {
		case h.Owner != x.Principal.Key():
		case h.Config == x.Call.ConfigID:
			named = append(named, h)
		case h.Config == "":
			nameless = append(nameless, h)
		}
	}
	if len(named) == 0 && len(nameless) == 1 {
		named = nameless
	}
	for _, h := range named {
		if err := wh.Relay.Hooks.Forget(ctx, h); err != nil {
			return err
		}
		if err := wh.Relay.Queue.Drop(ctx, h); err != nil {
			return err
		}
	}
	return nil
}
