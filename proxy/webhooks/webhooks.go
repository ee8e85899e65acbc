// Package webhooks puts the gateway's webhook in the place of a caller's: agents deliver to the
// relay, which knows the caller's URL and credentials, and the agent never does.
//
//	Intercept        (package notifications) registers the caller's and leaves Webhook in the exchange
//	Substitute       what the agent is sent in its place
//	BindWebhook      the answer names the task: the webhook is bound to it
//	DropWebhook      the agent did not take it: it is forgotten
//	ForgetConfig     the caller deleted its config: the webhook and what waits for it are dropped
package webhooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

const second = time.Second

// Timely holds the time that an agent names, if it names one, to push.age. Standard
// Webhooks has a header for it, of seconds since 1970.
func (wh *Webhooks) Timely(h http.Header) bool {
	named := h.Get("Webhook-Timestamp")
	if named == "" {
		return true
	}
	at, err := strconv.ParseInt(named, 10, 64)
	if err != nil {
		return false
	}
	return time.Since(time.Unix(at, 0)).Abs() <= wh.Relay.Hooks.Config().Age.Std()
}

// WantsTask reports whether a receiver is to have the whole task in the place of an
// update: clients of before 1.0 were told that notifications are tasks.
func (wh *Webhooks) WantsTask(n *Notification) bool {
	update := n.Seen.Kind == "statusUpdate" || n.Seen.Kind == "artifactUpdate"
	return update && n.Hook.Version != wire.V10 && wh.Relay.Hooks.Config().Tasks()
}

// Webhooks registers the webhooks of callers, gives agents an address of the gateway in their
// place, and judges which notifications go on. relay is nil where push configs go on as they are.
type Webhooks struct {
	Relay     *Relay
	Telemetry *telemetry.Telemetry
	PublicURL *url.URL
}

// Relay is what stands between agents and the webhooks of callers.
type Relay struct {
	Hooks  *push.Registry
	Queue  enqueuer
	Counts state.Limits // where what agents deliver is counted
}

// enqueuer keeps deliveries until they are made. Once it has returned without an error
// a delivery survives whatever the state survives. false: one of its ID is there already.
// Drop forgets those that wait for a webhook.
type enqueuer interface {
	Enqueue(ctx context.Context, d *push.Delivery) (bool, error)
	Drop(ctx context.Context, h *push.Webhook) error
}

// Substitute is what the agent is given. It has both a token and credentials: some SDKs
// send the one, some the other, some both.
func (wh *Webhooks) Substitute(x *exchange.Exchange) pushconfig.Config {
	return pushconfig.Config{
		URL:   wh.PublicURL.JoinPath(x.Webhook.Path).String(),
		Token: x.Webhook.Token.Reveal(), Scheme: bearer, Credentials: x.Webhook.Credentials.Reveal(),
	}
}

// bearer is the scheme that agents are given: every SDK that has any knows it.
const bearer = "Bearer"

// OwnConfig refuses a call about a config of somebody else's who may use the same task,
// as one that is not there. found is the config that the call brings, nil for none.
func (wh *Webhooks) OwnConfig(x *exchange.Exchange, found *pushconfig.Config) error {
	c := &x.Call
	reads := c.Method.Push && !c.Method.Writes
	if c.TaskID == "" || reads && c.ConfigID == "" || !c.Method.Push && !c.HasPushConfig {
		return nil
	}
	id := c.ConfigID
	if id == "" && found != nil {
		id = found.ID
	}
	// Nobody knows what an agent makes of a config that is none, and where there is room
	// for one that comes replaces any.
	any := !reads && x.OneConfig() || c.HasPushConfig && found == nil
	list, err := wh.Relay.Hooks.OfTask(x.Ctx, x.Agent.ID, c.TaskID)
	for _, h := range list {
		if h.Owner != x.Principal.Key() && (any || called(h.Config, c.TaskID) == called(id, c.TaskID)) {
			return ledger.ErrAbsent
		}
	}
	return err
}

// called is the id that a config has at its agent: one that has none gets the task's, by
// translation or from the SDKs' servers.
func called(id, task string) string { return cmp.Or(id, task) }

// BindWebhook keeps which task a webhook is for that came with a send.
func (wh *Webhooks) BindWebhook(x *exchange.Exchange, seen wire.Answer) error {
	if x.Webhook == nil || len(seen.Tasks) != 1 || x.Webhook.Webhook.Task != "" && x.Webhook.Webhook.Context != "" {
		return nil
	}
	task := seen.Tasks[0]
	return wh.Relay.Hooks.Bind(context.WithoutCancel(x.Ctx), x.Webhook.Webhook, task.ID, task.ContextID, "", x.OneConfig())
}

// DropWebhook forgets a webhook that the agent has not taken, or has no task for. Where
// that cannot be known of a send it stays: the task may have begun, and its caller waits
// for word of it.
func (wh *Webhooks) DropWebhook(x *exchange.Exchange, err error) {
	if x.Webhook == nil || !webhookUntaken(x, err) {
		return
	}
	if err := wh.Relay.Hooks.Forget(context.WithoutCancel(x.Ctx), x.Webhook.Webhook); err != nil {
		wh.Telemetry.Log.Warn("a webhook that the agent did not take is still registered",
			"request_id", x.Rec.RequestID, "error", err)
	}
}

// webhookUntaken reports whether the agent has not taken the webhook that came with a call,
// which has ended with err.
func webhookUntaken(x *exchange.Exchange, err error) bool {
	failed := err != nil || x.Rec.Decision == "error"
	if x.Call.Method.Subject != wire.OfMessage {
		return failed
	}
	if x.Rec.TaskState != "" { // the agent has shown the task
		return false
	}
	if err == nil {
		return failed || x.Webhook.Webhook.Task == "" // it has answered with a message
	}
	unsent := upstream.NoConnection(err)
	return unsent || !x.ClientLeft(err) && !errors.Is(err, ErrAnswerLate) && !errors.Is(err, exchange.ErrAgentBroke)
}
