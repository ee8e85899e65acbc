package proxy

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// configs completes an answer about push notification configs, and shows the caller its
// own webhooks in it.
func (fw *forwarder) configs(ctx context.Context, x *exchange, doc []byte) ([]byte, error) {
	doc, err := fw.allConfigs(ctx, x, doc)
	if err != nil || fw.Relay == nil || !x.call.Method.Push {
		return doc, err
	}
	ctx = context.WithoutCancel(ctx) // the agent has done it
	if x.call.Method == deleteConfig {
		return doc, fw.forgetConfig(ctx, x)
	}
	return wire.RewriteConfigs(x.upstream.Binding, x.upstream.Version, doc,
		func(task string, found wire.PushConfig) (wire.PushConfig, bool, error) {
			h, err := fw.shown(ctx, x, found)
			if err != nil || h == nil || task != "" && h.Task != "" && h.Task != task {
				return wire.PushConfig{}, false, err
			}
			if err := fw.Relay.Hooks.Bind(ctx, h, x.call.TaskID, "", found.ID, x.oneConfig()); err != nil {
				return wire.PushConfig{}, false, err
			}
			return masked(h), true, nil
		})
}

// shown is the caller's webhook behind a config that the agent shows; nil for one that
// is not the caller's, or not known: the URL of another's would let the caller deliver
// there, and whose an address is that was registered elsewhere nobody knows.
func (no *notifications) shown(ctx context.Context, x *exchange, found wire.PushConfig) (*push.Webhook, error) {
	if x.webhook != nil { // the answer to a create, whatever it says
		return x.webhook.Webhook, nil
	}
	h, err := no.Relay.Hooks.FindURL(ctx, no.PublicURL, found.URL)
	if err != nil || h == nil || h.Agent != x.agent.ID || h.Owner != x.principal.Key() {
		return nil, err
	}
	return h, nil
}

// masked is what the caller sees of its own webhook (A20). Secrets are left out, which
// every version allows and every SDK reads: token and credentials are optional in all of
// them. A word in their place would be taken for the secret by a client that sends the
// config back as it got it.
func masked(h *push.Webhook) wire.PushConfig {
	return wire.PushConfig{URL: h.URL, Scheme: h.Scheme}
}

// forgetConfig ends the webhook of a config that the agent has deleted. One that came
// with a send has no id here until the agent shows it; if it is the only one of the
// task's without, it is meant.
func (wh *webhooks) forgetConfig(ctx context.Context, x *exchange) error {
	list, err := wh.relay.Hooks.OfTask(ctx, x.agent.ID, x.call.TaskID)
	if err != nil {
		return err
	}
	var named, nameless []*push.Webhook
	for _, h := range list {
		switch {
		case h.Owner != x.principal.Key():
		case h.Config == x.call.ConfigID:
			named = append(named, h)
		case h.Config == "":
			nameless = append(nameless, h)
		}
	}
	if len(named) == 0 && len(nameless) == 1 {
		named = nameless
	}
	for _, h := range named {
		if err := wh.relay.Hooks.Forget(ctx, h); err != nil {
			return err
		}
		if err := wh.relay.Queue.Drop(ctx, h); err != nil {
			return err
		}
	}
	return nil
}
