// Package configlint warns in the log of what the configuration in force permits and hardly
// means, and of what its rules name and, by the agents' cards, does not exist.
package configlint

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Linter warns of each thing once in a configuration.
type Linter struct {
	current   *snapshot.Current
	telemetry *telemetry.Telemetry
	asked     chan struct{} // holds one when the configuration in force is to be looked at
}

// New makes a linter of what is in force.
func New(current *snapshot.Current, t *telemetry.Telemetry) *Linter {
	return &Linter{current: current, telemetry: t, asked: make(chan struct{}, 1)}
}

// Ask has the configuration in force looked at soon. It does not wait: when thousands of
// cards come at once, one look does for many.
func (l *Linter) Ask() {
	select {
	case l.asked <- struct{}{}:
	default: // it is going to be
	}
}

// pause is between two looks: each is at all agents and all rules.
const pause = 100 * time.Millisecond

// Run looks at the configuration in force when it was asked to, until closed is.
func (l *Linter) Run(closed <-chan struct{}) {
	for {
		select {
		case <-closed:
			return
		case <-l.asked:
		}
		if s := l.current.Acquire(); s != nil {
			l.Lint(s)
			s.Release()
		}
		select {
		case <-closed:
			return
		case <-time.After(pause):
		}
	}
}

// Lint logs what s permits and hardly means, and what its rules name and, by the cards
// known so far, does not exist. It runs when s comes into force and whenever a card changes; each
// warning is given once.
func (l *Linter) Lint(s *snapshot.Snapshot) {
	known := policy.Known{Issuers: issuers(s.Config), Skills: map[string][]string{}, Now: time.Now()}
	for id, m := range s.Agents {
		if skills, ok := m.Skills(); ok {
			known.Skills[id] = skills
		}
	}
	s.Linting.Lock()
	defer s.Linting.Unlock()
	for _, w := range s.Config.Doubts() {
		l.warn(s, "configuration", "", w)
	}
	for _, w := range s.Rules.Lint(known) {
		l.warn(s, "policy rule", "", w.String())
	}
	for id, m := range s.Agents {
		if card := m.Agent.Source.Current(); card != nil {
			warnings := s.Book.Lint(card.Extensions)
			l.telemetry.Metrics.Cards.Warned(id, len(warnings))
			for _, w := range warnings {
				l.warn(s, "agent card", id, w)
			}
		}
	}
}

// warn gives a warning once. s.Linting is held.
func (l *Linter) warn(s *snapshot.Snapshot, about, agent, text string) {
	key := about + " " + agent + " " + text
	if s.Warned[key] {
		return
	}
	s.Warned[key] = true
	if agent == "" {
		l.telemetry.Log.Warn(about, "warning", text)
		return
	}
	l.telemetry.Log.Warn(about, "agent", agent, "warning", text)
}

// issuers are the issuers that principals can come from, as rules name them, or
// nil with fewer than two of OpenID Connect: API keys are the operator's own, and
// groups given to them are not mistaken for somebody else's.
func issuers(cfg *config.Config) []string {
	if len(cfg.Authn.OIDC) < 2 {
		return nil
	}
	names := []string{apikey.Issuer, authn.IssuerAnonymous}
	for _, name := range schemes.Issuers(&cfg.Authn) {
		if name != apikey.Issuer {
			names = append(names, name)
		}
	}
	for _, i := range cfg.Authn.OIDC {
		names = append(names, i.Issuer)
	}
	return names
}
