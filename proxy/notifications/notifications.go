// Package notifications takes the webhooks of calls, and the notifications that agents deliver to
// the relay: it proves whose they are and decides whether the caller may still have them.
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
	StreamMessage = intake.Method(wire.SendStreamingMessage)
)
