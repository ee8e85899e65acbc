package authn

import "github.com/a2a-gateway/a2a-gateway/internal/secret"

// Introspection is authn.oidc[].introspection: asking an issuer about tokens
// (RFC 7662).
type Introspection struct {
	// URL of the introspection endpoint. Default: from the issuer's metadata
	// (RFC 8414 introspection_endpoint).
	URL string `yaml:"url,omitempty"`
	// ClientID and ClientSecret authenticate the gateway there, by HTTP Basic.
	ClientID     string       `yaml:"clientID"`
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Always asks about tokens that could be verified here as well, so that revoking
	// one counts within Cache. Default: false.
	Always bool `yaml:"always,omitempty"`
	// Cache is how long an answer is good, at most until the token expires.
	// Default: 10s; at most 5m.
	Cache secret.Duration `yaml:"cache,omitempty"`
	// Timeout of one question. Default: 5s.
	Timeout secret.Duration `yaml:"timeout,omitempty"`
}
