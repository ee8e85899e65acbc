package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// cardSchemes is what cards say about how to authenticate.
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

// addSecurity adds one of the kinds of credential that cards have words for.
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

// together is a combination, as cards know it.
func together(c authn.Combination) []string {
	if c.Client == "" {
		return []string{c.User}
	}
	return []string{c.User, c.Client}
}
