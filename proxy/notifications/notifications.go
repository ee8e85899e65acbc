// Package notifications takes the webhooks of calls, and the notifications that agents deliver to
// the relay: it proves whose they are and decides whether the caller may still have them.
//
// # The two directions
//
// A webhook comes in with a call: in the configuration of a send, or with
// CreateTaskPushNotificationConfig (A2A 1.0 §3.1.7). MayPush and Intercept see it before the call
// is forwarded:
//
//	caller:  {"url":"https://hooks.example/x","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}
//	agent:   {"url":"https://gw.example/push/<token>","token":"<shown>","authentication":{"scheme":"Bearer","credentials":"<authorizing>"}}
//
// The caller's is stored sealed (push.Registry) and comes back whenever the agent shows its
// config; the agent never learns it (threat A18). Register refuses a URL that the gateway must
// not send to, and a config beyond push.perTask or push.perPrincipal, as INVALID_PARAMS.
//
// A notification comes in with POST /push/<token>. The stages behind it, of package forward, call
// this one in order, and each may decline with a bare status, since whoever has found the address
// is to learn nothing:
//
//   - AdmitNotification: the token is known, the task has not ended long ago, the rate is kept,
//     the agent shows what it was given, and in time: 404, 410, 429, 401, 403.
//   - ReadNotification: the body is one notification, in whichever version: 415, 413, 400.
//   - OwnNotification: it is about the webhook's task, and that is not somebody else's: 403.
//
// What is left in the exchange is a Principal made of what was stored with the webhook, under
// which the ledger and the rules are asked as if the owner called.
//
// StillFor is asked again right before a delivery, which may be a day later: the owner's key may
// have been revoked since.
package notifications

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/pushconfig"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// ShownConfig is the caller's webhook behind a config that the agent shows; nil for one that
// is not the caller's, or not known: the URL of another's would let the caller deliver
// there, and whose an address is that was registered elsewhere nobody knows.
func (no *Notifications) ShownConfig(ctx context.Context, x *exchange.Exchange, found pushconfig.Config) (*push.Webhook, error) {
	if x.Webhook != nil { // the answer to a create, whatever it says
		return x.Webhook.Webhook, nil
	}
	h, err := no.Relay.Hooks.FindURL(ctx, no.PublicURL, found.URL)
	if err != nil || h == nil || h.Agent != x.Agent.ID || h.Owner != x.Principal.Key() {
		return nil, err
	}
	return h, nil
}

// Zoned is an answer or event of such a side as it is read, and whether that is otherwise than
// it came.
func Zoned(doc []byte) (read []byte, changed bool) {
	read = translate.Zoned(doc)
	return read, !exchange.Same(doc, read)
}

// Notifications decides which webhooks a caller may register, and whose a delivered notification is.
type Notifications struct {
	*webhooks.Webhooks
	*intake.Frontend
	*intake.Decoder
	*ownership.Owners

	Authn     *authn.Chain
	Ledger    *ledger.Ledger
	Policy    *policy.Set
	PublicURL *url.URL
	Relay     *webhooks.Relay
	Telemetry *telemetry.Telemetry
	Agents    map[string]*agents.Agent
}

// StillFor reports whether the owner of a webhook may still hear of its task: see Proxy.StillFor.
//
// A webhook whose owner was not remembered (Who is empty) stays. The
// rules are asked for GetTask and for CreateTaskPushNotificationConfig, of which either is
// enough, and last whether the owner may use the skill at all: rules that look into messages
// cannot be asked without one.
func (no *Notifications) StillFor(h *push.Webhook) error {
	agent := no.Agents[h.Agent]
	if agent == nil {
		return fmt.Errorf("%w: %w", push.ErrForbidden, agents.ErrUnknown)
	}
	if h.Who == "" {
		return nil
	}
	who, err := no.Authn.Recall([]byte(h.Who))
	switch {
	case errors.Is(err, authn.ErrUnavailable):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", push.ErrForbidden, err)
	}
	q := policy.Request{
		Principal: who, Agent: h.Agent, Skill: h.Skill, Agentwide: h.Skill == "", Now: time.Now(), Version: h.Version,
		Task: &policy.Task{
			ID: h.Task, ContextID: h.Context, Skill: h.Skill, Owner: h.Subject, Issuer: h.Issuer, Tenant: h.Tenant, Created: h.Created,
		},
	}
	if v := agent.Look(); v != nil {
		q.SkillScopes = v.Scopes
	}
	for _, m := range []string{intake.GetTask.Name, ownership.CreateConfig.Name} {
		q.Method = intake.Method(m)
		if _, err = no.Policy.Check(q); err == nil {
			return nil
		}
	}
	if h.Skill == "" && no.Policy.Sees(who, h.Agent) {
		return nil
	}
	if h.Skill != "" && len(no.Policy.SkillsWith(who, h.Agent, []string{h.Skill}, q.SkillScopes)) > 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", push.ErrForbidden, err)
}

var (
	// StreamMessage is the operation whose answers notifications are read as: each is one event
	// of its stream.
	StreamMessage = intake.Method(wire.SendStreamingMessage)
)
