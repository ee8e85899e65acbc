package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// notifications decides which webhooks a caller may register, and whose a delivered notification is.
type notifications struct {
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
	agents    map[string]*agents.Agent
}

// StillFor reports whether the owner of a webhook may still hear of its task, under the
// configuration and the keys of now: the agent is there, the owner would be let in, and
// may read the task, register a webhook for it, or send to its skill. That is as much as
// can be asked without a call: conditions on a message count as met. An error that wraps
// push.ErrForbidden says no, any other that it cannot be told.
func (p *Proxy) StillFor(h *push.Webhook) error { return p.notifications.stillFor(h) }

func (no *notifications) stillFor(h *push.Webhook) error {
	agent := no.agents[h.Agent]
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
