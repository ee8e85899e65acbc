package gateway

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
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
		if s := g.current.Acquire(); s != nil {
			g.lint(s)
			s.Release()
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
func (g *Gateway) lint(s *snapshot.Snapshot) {
	known := policy.Known{Issuers: issuers(s.Config), Skills: map[string][]string{}, Now: time.Now()}
	for id, m := range s.Agents {
		if skills, ok := m.Skills(); ok {
			known.Skills[id] = skills
		}
	}
	s.Linting.Lock()
	defer s.Linting.Unlock()
	for _, w := range s.Config.Doubts() {
		g.warn(s, "configuration", "", w)
	}
	for _, w := range s.Rules.Lint(known) {
		g.warn(s, "policy rule", "", w.String())
	}
	for id, m := range s.Agents {
		if card := m.Agent.Source.Current(); card != nil {
			warnings := s.Book.Lint(card.Extensions)
			g.telemetry.Metrics.CardWarnings(id, len(warnings))
			for _, w := range warnings {
				g.warn(s, "agent card", id, w)
			}
		}
	}
}

// warn gives a warning once. s.linting is held.
func (g *Gateway) warn(s *snapshot.Snapshot, about, agent, text string) {
	key := about + " " + agent + " " + text
	if s.Warned[key] {
		return
	}
	s.Warned[key] = true
	if agent == "" {
		g.telemetry.Log.Warn(about, "warning", text)
		return
	}
	g.telemetry.Log.Warn(about, "agent", agent, "warning", text)
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
