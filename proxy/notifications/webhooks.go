package notifications

import (
	"cmp"
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// MayPush refuses calls about webhooks where there are none. What the method of an
// extension makes of one that comes with it the relay cannot know, and so cannot put
// another in its place.
func (no *Notifications) MayPush(x *exchange.Exchange) error {
	switch {
	case !no.Pushes() && (x.Call.Method.Push || x.Call.HasPushConfig):
		return wire.Errorf(wire.PushUnsupported, "")
	case no.Relay != nil && x.Call.HasPushConfig && x.Call.Method.Extension != "":
		return wire.Errorf(wire.PushUnsupported, "webhooks that come with methods of extensions are not relayed")
	}
	return nil
}

// InterceptWebhook puts a webhook of the gateway's in the place of the one that comes with a
// call, so that the agent never sees the caller's (A18), and remembers what it was.
//
// It runs after all that can refuse the call, so that a refused call leaves no webhook behind,
// and before the body is translated. A config without a URL is refused on create, and in a send
// it is taken for none.
func (no *Notifications) InterceptWebhook(x *exchange.Exchange) error {
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
	if err := no.OwnConfig(x, found); err != nil || !x.Call.HasPushConfig {
		return err
	}
	switch {
	case found == nil && x.Call.Method == ownership.CreateConfig:
		return wire.Errorf(wire.InvalidParams, "Invalid parameters: the push notification config has no URL")
	case found == nil:
		return nil
	}
	hook := webhookOf(x, found)
	hook.Trace = no.Traceparent(x)
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
	if x.Call.Params, e = pushconfig.Replace(&x.Call, x.Call.Params, no.Substitute(x)); e != nil {
		return e
	}
	return nil
}

// webhookOf is the caller's webhook, as it is remembered.
//
// All names that the caller has for the task and the context are kept with it, because a
// notification comes outside of any call and has to be told in the caller's words.
func webhookOf(x *exchange.Exchange, c *pushconfig.Config) push.Webhook {
	h := push.Webhook{
		Agent: x.Agent.ID, Speaks: x.Endpoint.Version, Endpoint: x.Endpoint.Address,
		Registrant: push.Registrant{
			Owner: x.Principal.Key(), Subject: x.Principal.Subject, Issuer: x.Principal.Issuer, Tenant: x.Principal.Tenant,
		},
		Skill: x.Skill, Task: x.Call.TaskID, Context: x.Record.Context, Config: c.ID, Version: x.Call.Version,
		Renamed: push.Alias(x.Task), Session: push.Alias(x.Session),
		URL: c.URL, Token: secret.New(c.Token), Scheme: c.Scheme, Credentials: secret.New(c.Credentials),
	}
	if x.Call.Method == ownership.CreateConfig && x.Call.ConfigID != "" {
		h.Config = x.Call.ConfigID
	}
	if n := x.Otherwise(cmp.Or(x.Call.ContextID, x.Record.Context)); n != nil && n.ID != "" {
		h.Foreign = push.Alias{Agent: n.Agents, Caller: n.ID}
	}
	return h
}

// SubstitutedBody is the body of a call that goes on as it came, but for its webhook.
//
// Only the bytes of the config are replaced; the rest of the body stays as it came.
func (no *Notifications) SubstitutedBody(x *exchange.Exchange) ([]byte, error) {
	body := x.Call.Body
	from, to := 0, len(body)
	if x.Call.Binding == wire.JSONRPC {
		from, to = jsonscan.MemberSpan(body, "params")
	}
	params, e := pushconfig.Replace(&x.Call, body[from:to:to], no.Substitute(x))
	if e != nil {
		return nil, e
	}
	return jsonscan.Replaced(body, from, to, params), nil
}
