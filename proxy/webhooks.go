package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// webhooks registers the webhooks of callers, gives agents an address of the gateway in their
// place, and judges which notifications go on. relay is nil where push configs go on as they are.
type webhooks struct {
	relay     *Relay
	telemetry *telemetry.Telemetry
	publicURL *url.URL
}

// Relay is what stands between agents and the webhooks of callers.
type Relay struct {
	Hooks  *push.Registry
	Queue  Enqueuer
	Counts state.Limits // where what agents deliver is counted
}

// Enqueuer keeps deliveries until they are made. Once it has returned without an error
// a delivery survives whatever the state survives. false: one of its ID is there already.
// Drop forgets those that wait for a webhook.
type Enqueuer interface {
	Enqueue(ctx context.Context, d *push.Delivery) (bool, error)
	Drop(ctx context.Context, h *push.Webhook) error
}

var (
	createConfig = method(wire.CreatePushConfig)
	deleteConfig = method("DeleteTaskPushNotificationConfig")
)

// pushes reports whether callers may register webhooks.
func (fe *frontend) pushes() bool { return fe.Push.Passes() || fe.Relay != nil }

// mayPush refuses calls about webhooks where there are none. What the method of an
// extension makes of one that comes with it the relay cannot know, and so cannot put
// another in its place.
func (no *notifications) mayPush(x *exchange.Exchange) error {
	switch {
	case !no.pushes() && (x.Call.Method.Push || x.Call.HasPushConfig):
		return wire.Errorf(wire.PushUnsupported, "")
	case no.Relay != nil && x.Call.HasPushConfig && x.Call.Method.Extension != "":
		return wire.Errorf(wire.PushUnsupported, "webhooks that come with methods of extensions are not relayed")
	}
	return nil
}

// intercept puts a webhook of the gateway's in the place of the one that comes with a
// call, so that the agent never sees the caller's (A18), and remembers what it was.
func (no *notifications) intercept(x *exchange.Exchange) error {
	if no.Relay == nil || x.Webhook != nil || x.Call.Method.Extension != "" {
		return nil
	}
	var found *pushconfig.Config
	var e *wire.Error
	if x.Call.HasPushConfig {
		if found, e = pushconfig.Read(&x.Call); e != nil {
			return e
		}
	}
	if err := no.ownConfig(x, found); err != nil || !x.Call.HasPushConfig {
		return err
	}
	switch {
	case found == nil && x.Call.Method == createConfig:
		return wire.Errorf(wire.InvalidParams, "Invalid parameters: the push notification config has no URL")
	case found == nil:
		return nil
	}
	hook := webhookOf(x, found)
	hook.Trace = no.traceparent(x)
	who, err := x.Principal.Remember()
	if err != nil {
		return err
	}
	hook.Who = string(who)
	registered, err := no.Relay.Hooks.Register(x.Ctx, hook)
	var refused *push.RefusedError
	if errors.As(err, &refused) {
		return x.Unregistered(refused)
	}
	if err != nil {
		return err
	}
	x.Webhook = registered
	if x.Call.Params, e = pushconfig.Replace(&x.Call, x.Call.Params, no.substitute(x)); e != nil {
		return e
	}
	return nil
}

// webhookOf is the caller's webhook, as it is remembered.
func webhookOf(x *exchange.Exchange, c *pushconfig.Config) push.Webhook {
	h := push.Webhook{
		Agent: x.Agent.ID, Speaks: x.Endpoint.Version, Endpoint: x.Endpoint.Address,
		Owner: x.Principal.Key(), Subject: x.Principal.Subject, Issuer: x.Principal.Issuer, Tenant: x.Principal.Tenant,
		Skill: x.Skill, Task: x.Call.TaskID, Context: x.Record.Context, Config: c.ID, Version: x.Call.Version,
		Renamed: push.Alias(x.Task), Session: push.Alias(x.Session),
		URL: c.URL, Token: secret.New(c.Token), Scheme: c.Scheme, Credentials: secret.New(c.Credentials),
	}
	if x.Call.Method == createConfig && x.Call.ConfigID != "" {
		h.Config = x.Call.ConfigID
	}
	if n := x.Otherwise(cmp.Or(x.Call.ContextID, x.Record.Context)); n != nil && n.ID != "" {
		h.Foreign = push.Alias{Agent: n.Agents, Caller: n.ID}
	}
	return h
}

// substitute is what the agent is given. It has both a token and credentials: some SDKs
// send the one, some the other, some both.
func (wh *webhooks) substitute(x *exchange.Exchange) pushconfig.Config {
	return pushconfig.Config{
		URL:   wh.publicURL.JoinPath(x.Webhook.Path).String(),
		Token: x.Webhook.Token.Reveal(), Scheme: bearer, Credentials: x.Webhook.Credentials.Reveal(),
	}
}

// bearer is the scheme that agents are given: every SDK that has any knows it.
const bearer = "Bearer"

// substituted is the body of a call that goes on as it came, but for its webhook.
func (no *notifications) substituted(x *exchange.Exchange) ([]byte, error) {
	body := x.Call.Body
	from, to := 0, len(body)
	if x.Call.Binding == wire.JSONRPC {
		from, to = exchange.MemberSpan(body, "params")
	}
	params, e := pushconfig.Replace(&x.Call, body[from:to:to], no.substitute(x))
	if e != nil {
		return nil, e
	}
	return exchange.Splice(body, from, to, params), nil
}

// ownConfig refuses a call about a config of somebody else's who may use the same task,
// as one that is not there. found is the config that the call brings, nil for none.
func (wh *webhooks) ownConfig(x *exchange.Exchange, found *pushconfig.Config) error {
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
	list, err := wh.relay.Hooks.OfTask(x.Ctx, x.Agent.ID, c.TaskID)
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

// bindWebhook keeps which task a webhook is for that came with a send.
func (wh *webhooks) bindWebhook(x *exchange.Exchange, seen wire.Answer) error {
	if x.Webhook == nil || len(seen.Tasks) != 1 || x.Webhook.Webhook.Task != "" && x.Webhook.Webhook.Context != "" {
		return nil
	}
	task := seen.Tasks[0]
	return wh.relay.Hooks.Bind(context.WithoutCancel(x.Ctx), x.Webhook.Webhook, task.ID, task.ContextID, "", x.OneConfig())
}

// dropWebhook forgets a webhook that the agent has not taken, or has no task for. Where
// that cannot be known of a send it stays: the task may have begun, and its caller waits
// for word of it.
func (wh *webhooks) dropWebhook(x *exchange.Exchange, err error) {
	if x.Webhook == nil || !webhookUntaken(x, err) {
		return
	}
	if err := wh.relay.Hooks.Forget(context.WithoutCancel(x.Ctx), x.Webhook.Webhook); err != nil {
		wh.telemetry.Log.Warn("a webhook that the agent did not take is still registered",
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
	return unsent || !x.ClientLeft(err) && !errors.Is(err, errAnswerLate) && !errors.Is(err, exchange.ErrAgentBroke)
}
