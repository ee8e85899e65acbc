package schemes

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// Registration is what is known of a scheme beside the chain: what explains callers, warns
// about rules and labels metrics goes by it. What the chain and its challenges ask is
// authn.Scheme's.
type Registration struct {
	// Name is the key of the scheme's section in authn, and what authn.prefer and
	// authn.combinations call it.
	Name string
	// Issuer is that of its principals, and their provider in metrics; "" where each
	// principal is of an issuer that the configuration names.
	Issuer string
	// Method is Principal.Method of those who are authenticated by it.
	Method string
	// Configured reports whether a configuration has the scheme.
	Configured func(c *Config) bool

	make func(ctx context.Context, b *build) (authn.Scheme, error)
}

// All are the schemes that there are, in the order in which a chain asks them.
func All() []Registration {
	return []Registration{
		{apikey.Name, apikey.Issuer, apikey.Method, func(c *Config) bool { return c.APIKeys != nil },
			func(_ context.Context, b *build) (authn.Scheme, error) { return b.apiKeys() }},
		{jwt.Name, "", jwt.Method, func(c *Config) bool { return len(c.OIDC) > 0 },
			func(ctx context.Context, b *build) (authn.Scheme, error) { return b.oidc(ctx), nil }},
		{clientcert.Name, clientcert.Name, clientcert.Method, func(c *Config) bool { return c.MTLS != nil },
			func(_ context.Context, b *build) (authn.Scheme, error) { return b.mtls(), nil }},
	}
}

// Issuers are the issuers of principals whom no issuer of authn.oidc vouches for, of all
// schemes that a configuration has; of all that there are with nil.
func Issuers(c *Config) []string {
	var list []string
	for _, r := range All() {
		if r.Issuer != "" && (c == nil || r.Configured(c)) {
			list = append(list, r.Issuer)
		}
	}
	return list
}

// MethodOf is how principals of an issuer are proved.
func MethodOf(issuer string) string {
	for _, r := range All() {
		if r.Issuer == issuer {
			return r.Method
		}
	}
	return jwt.Method
}
