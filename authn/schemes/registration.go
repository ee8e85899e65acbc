package schemes

import (
	"context"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// Registration is what is known of a scheme beside the chain: agent cards, what explains
// callers, warns about rules, checks files and labels metrics walk the registrations, and name
// no scheme. What the chain and its challenges ask is authn.Scheme's.
type Registration struct {
	// Name is the key of the scheme's section in authn, and what authn.prefer and
	// authn.combinations call it.
	Name string
	// Issuer is that of its principals, and their provider in metrics; "" where each
	// principal is of an issuer that the configuration names.
	Issuer string
	// Methods are what Principal.Method may be of those who are authenticated by it, the
	// usual one first.
	Methods []string
	// Claims says that its credentials have claims, which rules may ask about.
	Claims bool
	// Certificates says that clients have to be asked for certificates for it to work.
	Certificates bool
	// Configured reports whether a configuration has the scheme. The functions below are for
	// a configuration that has.
	Configured func(c *Config) bool
	// Security is how agent cards ask for its credentials.
	Security func(c *Config) []authn.Security
	// Check opens what the section names, as a gateway would. Nil: there is nothing.
	Check func(c *Config) (warnings []string, err error)
	// Header is where a credential travels that is written down without a header, when it is
	// seen to be one of the scheme; "" when not. Nil: none is.
	Header func(c *Config, credential string) string

	make func(ctx context.Context, b *build) (authn.Scheme, error)
}

// All are the schemes that there are, in the order in which a chain asks them.
func All() []Registration {
	return []Registration{
		{
			Name: apikey.Name, Issuer: apikey.Issuer, Methods: []string{apikey.Method},
			Configured: func(c *Config) bool { return c.APIKeys != nil },
			Security:   func(c *Config) []authn.Security { return c.APIKeys.Security() },
			Check:      func(c *Config) ([]string, error) { return c.APIKeys.Check() },
			Header:     func(c *Config, credential string) string { return c.APIKeys.HeaderOf(credential) },
			make:       func(_ context.Context, b *build) (authn.Scheme, error) { return b.apiKeys() },
		},
		{
			Name: jwt.Name, Methods: jwt.Methods(), Claims: true,
			Configured: func(c *Config) bool { return len(c.OIDC) > 0 },
			Security:   func(c *Config) []authn.Security { return jwt.Security(c.OIDC) },
			make:       func(ctx context.Context, b *build) (authn.Scheme, error) { return b.oidc(ctx), nil },
		},
		{
			Name: clientcert.Name, Issuer: clientcert.Name, Methods: []string{clientcert.Method}, Certificates: true,
			Configured: func(c *Config) bool { return c.MTLS != nil },
			Security:   func(*Config) []authn.Security { return []authn.Security{{Kind: authn.MutualTLS}} },
			make:       func(_ context.Context, b *build) (authn.Scheme, error) { return b.mtls(), nil },
		},
	}
}

// Of are the schemes that a configuration has.
func Of(c *Config) []Registration {
	return slices.DeleteFunc(All(), func(r Registration) bool { return !r.Configured(c) })
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
			return r.Methods[0]
		}
	}
	return jwt.Method
}

// HaveClaims reports whether the credentials of principals that were proved by a method have
// claims. Those of a method that is not known here may.
func HaveClaims(method string) bool {
	for _, r := range All() {
		if slices.Contains(r.Methods, method) {
			return r.Claims
		}
	}
	return method != authn.MethodAnonymous
}

// Names are those of the schemes in the order in which people read of them: first that whose
// issuers the configuration names.
func Names() []string {
	var theirs, own []string
	for _, r := range All() {
		if r.Issuer == "" {
			theirs = append(theirs, r.Name)
		} else {
			own = append(own, r.Name)
		}
	}
	return append(theirs, own...)
}

// Enumerate writes a list of two words or more for people, as in "oidc, apiKeys or mtls".
func Enumerate(words []string, conjunction string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
