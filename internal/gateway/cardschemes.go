package gateway

import (
	"cmp"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// cardSchemes is what cards say about how to authenticate.
func cardSchemes(cfg *config.Config) card.Schemes {
	s := card.Schemes{Anonymous: cfg.Authn.Anonymous}
	for _, i := range cfg.Authn.OIDC {
		own := i.Header
		if strings.EqualFold(own, "Authorization") {
			own = ""
		}
		s.OIDC = append(s.OIDC, card.Issuer{URL: i.Issuer, Header: own})
	}
	if keys := cfg.Authn.APIKeys; keys != nil {
		s.APIKeyHeader, s.Bearer = cmp.Or(keys.Header, "X-API-Key"), keys.Bearer
	}
	s.MTLS = cfg.Authn.MTLS != nil
	for _, c := range cfg.Authn.Combinations {
		s.Combinations = append(s.Combinations, together(c))
	}
	return s
}

// together is a combination, as cards know it.
func together(c authn.Combination) []string {
	if c.Client == "" {
		return []string{c.User}
	}
	return []string{c.User, c.Client}
}
