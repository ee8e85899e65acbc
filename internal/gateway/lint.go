package gateway

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// relint has the configuration in force looked at soon. It does not wait: when thousands of
// cards come at once, one look does for many.
func (g *Gateway) relint() {
	select {
	case g.linting <- struct{}{}:
	default: // it is going to be
	}
}

// lintPause is between two looks: each is at all agents and all rules.
const lintPause = 100 * time.Millisecond

// lintChanges looks at the configuration in force when relint said so, until the gateway
// closes.
func (g *Gateway) lintChanges() {
	for {
		select {
		case <-g.closed:
			return
		case <-g.linting:
		}
		if s := g.acquire(); s != nil {
			g.lint(s)
			s.release()
		}
		select {
		case <-g.closed:
			return
		case <-time.After(lintPause):
		}
	}
}

// lint logs what s permits and hardly means, and what its rules name and, by the cards
// known so far, does not exist. It runs when s comes into force and whenever a card changes; each
// warning is given once.
func (g *Gateway) lint(s *snapshot) {
	known := policy.Known{Issuers: issuers(s.config), Skills: map[string][]string{}, Now: time.Now()}
	for id, m := range s.agents {
		if skills, ok := m.skills(); ok {
			known.Skills[id] = skills
		}
	}
	s.linting.Lock()
	defer s.linting.Unlock()
	for _, w := range s.config.Doubts() {
		g.warn(s, "configuration", "", w)
	}
	for _, w := range s.rules.Lint(known) {
		g.warn(s, "policy rule", "", w.String())
	}
	for id, m := range s.agents {
		if card := m.agent.Source.Current(); card != nil {
			warnings := s.book.Lint(card.Extensions)
			g.telemetry.Metrics.CardWarnings(id, len(warnings))
			for _, w := range warnings {
				g.warn(s, "agent card", id, w)
			}
		}
	}
}

// warn gives a warning once. s.linting is held.
func (g *Gateway) warn(s *snapshot, about, agent, text string) {
	key := about + " " + agent + " " + text
	if s.warned[key] {
		return
	}
	s.warned[key] = true
	if agent == "" {
		g.telemetry.Log.Warn(about, "warning", text)
		return
	}
	g.telemetry.Log.Warn(about, "agent", agent, "warning", text)
}

// skills are those the operator lists, or else the card's; false while neither
// is known.
func (m *member) skills() ([]string, bool) {
	var ids []string
	for _, skill := range m.config.Skills {
		ids = append(ids, skill.ID)
	}
	if ids != nil {
		return ids, true
	}
	card := m.agent.Source.Current()
	if card == nil {
		return nil, false
	}
	for _, skill := range card.Skills {
		ids = append(ids, skill.ID)
	}
	return ids, true
}

// issuers are the issuers that principals can come from, as rules name them, or
// nil with fewer than two of OpenID Connect: API keys are the operator's own, and
// groups given to them are not mistaken for somebody else's.
func issuers(cfg *config.Config) []string {
	if len(cfg.Authn.OIDC) < 2 {
		return nil
	}
	names := []string{"api-keys", "anonymous"}
	if cfg.Authn.MTLS != nil {
		names = append(names, "mtls")
	}
	for _, i := range cfg.Authn.OIDC {
		names = append(names, i.Issuer)
	}
	return names
}
