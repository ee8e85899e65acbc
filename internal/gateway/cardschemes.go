package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// cardSchemes is what cards say about how to authenticate. They become securitySchemes and
// security requirements of the cards that the gateway serves (A2A 1.0, section 4.5), in
// place of those of the agents: a client authenticates to the gateway, and the agent's own
// schemes would mislead it.
func cardSchemes(cfg *config.Config) card.Schemes {
	s := card.Schemes{Anonymous: cfg.Authn.Anonymous}
	for _, r := range schemes.Of(&cfg.Authn) {
		for _, asked := range r.Security(&cfg.Authn) {
			addSecurity(&s, asked)
		}
	}
	for _, c := range cfg.Authn.Combinations {
		s.Combinations = append(s.Combinations, together(c))
	}
	return s
}

// addSecurity adds one of the kinds of credential that cards have words for. A kind that
// cards have no words for is left out; clients learn of it elsewhere.
func addSecurity(s *card.Schemes, asked authn.Security) {
	switch asked.Kind {
	case authn.OpenIDConnect:
		s.OIDC = append(s.OIDC, card.Issuer{URL: asked.Issuer, Header: asked.Header})
	case authn.APIKey:
		s.APIKeyHeader = asked.Header
	case authn.HTTPBearer:
		s.Bearer = true
	case authn.MutualTLS:
		s.MTLS = true
	}
}

// together is a combination, as cards know it. It is a list of the schemes that have to be
// presented at once: one or two.
func together(c authn.Combination) []string {
	if c.Client == "" {
		return []string{c.User}
	}
	return []string{c.User, c.Client}
}
