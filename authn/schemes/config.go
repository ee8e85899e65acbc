// Package schemes has the authn section of the configuration, and makes of it a chain of the
// schemes that it asks for. It is the one place that knows all of them.
//
// A scheme is a package beside this one with an authn.Scheme, its part of [Config], and its
// place in [New].
package schemes

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/authn/dpop"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the authn section of the configuration: which credentials the gateway accepts.
// Schemes are alternatives. A request carries exactly one credential, unless combinations say
// which belong together.
type Config struct {
	// OIDC lists the issuers whose access tokens the gateway accepts. It checks a JWT against the
	// one issuer that the iss claim names, and refuses it when that issuer is not listed.
	OIDC []jwt.Issuer `yaml:"oidc,omitempty"`
	// APIKeys accepts the gateway's own keys, made with `a2a-gateway keys create`. Without this
	// section, the gateway accepts no API key.
	APIKeys *apikey.Config `yaml:"apiKeys,omitempty"`
	// MTLS accepts the certificates that clients show in the TLS handshake (server.tls.clientAuth)
	// as identities. Without this section, no certificate is one; tokens may be bound to
	// certificates all the same (RFC 8705).
	MTLS *clientcert.Config `yaml:"mtls,omitempty"`
	// Combinations lists which credentials must come together, as alternatives. A request must
	// match one of them as a whole. Default: exactly one credential of any scheme above.
	Combinations []authn.Combination `yaml:"combinations,omitempty"`
	// Prefer lists methods, of oidc, apiKeys and mtls, for requests with more than one credential,
	// such as a key and the credential of a proxy in front. The credential of the first listed
	// method that a request has one of counts, and must be valid. The gateway neither checks the
	// others nor passes them on. It still refuses two of one method. Default: none, and more than
	// one credential is refused.
	Prefer []string `yaml:"prefer,omitempty"`
	// DPoP sets limits for proofs of possession (RFC 9449). Without this section, the gateway
	// still checks proofs where a token asks for one.
	DPoP dpop.Config `yaml:"dpop,omitempty"`
	// Actors limits delegation (RFC 8693 act claims).
	Actors jwt.Actors `yaml:"actors,omitempty"`
	// Failures limits how often one client address may present credentials that the gateway
	// refuses.
	Failures failures.Config `yaml:"failures,omitempty"`
	// Limits bounds the credentials that callers present.
	Limits authn.Limits `yaml:"limits,omitempty"`
	// Anonymous lets callers without any credential in, as the principal "anonymous". It must be
	// set when none of oidc, apiKeys and mtls is configured; nothing can check credentials then,
	// and the gateway ignores them. Beside these schemes, the gateway still checks a credential
	// that a caller presents. It refuses a bad one instead of treating the caller as anonymous.
	Anonymous bool `yaml:"anonymous,omitempty"`
}

// Validate reports everything that is wrong with the configuration, offline.
func (c *Config) Validate() error {
	var errs []error
	if len(Of(c)) == 0 && !c.Anonymous {
		errs = append(errs, keypath.At(errors.New("nobody could call: configure "+Enumerate(Names(), "or")+
			", or write `anonymous: true` to let everybody in"), "authn"))
	}
	seen := make(map[string]bool, len(c.OIDC))
	for i := range c.OIDC {
		is := &c.OIDC[i]
		if seen[is.Issuer] {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("issuer %q is listed twice", secret.URL(is.Issuer)), "issuer"), "authn", "oidc", i))
		}
		seen[is.Issuer] = true
		if err := is.Validate(); err != nil {
			errs = append(errs, keypath.At(err, "authn", "oidc", i))
		}
	}
	if c.APIKeys != nil {
		if err := c.APIKeys.Validate(); err != nil {
			errs = append(errs, keypath.At(err, "authn", "apiKeys"))
		}
	}
	if c.MTLS != nil {
		if err := c.MTLS.Validate(); err != nil {
			errs = append(errs, keypath.At(err, "authn", "mtls"))
		}
	}
	if err := c.DPoP.Validate(); err != nil {
		errs = append(errs, keypath.At(err, "authn", "dpop"))
	}
	return errors.Join(append(errs, c.validateHeaders(), c.validateCombinations(), c.validatePrefer(), c.Actors.Validate(),
		c.Failures.Validate(), c.Limits.Validate())...)
}

// validateHeaders sees to it that what a header carries is one kind of thing.
func (c *Config) validateHeaders() error {
	var errs []error
	asks := make(map[string]string, len(c.OIDC)) // by header, the issuer that is asked about opaque tokens
	for i := range c.OIDC {
		is := &c.OIDC[i]
		name := is.HeaderName()
		if c.APIKeys != nil && name == c.APIKeys.HeaderName() {
			errs = append(errs, keypath.At(fmt.Errorf("%q carries API keys (authn.apiKeys.header)", name), "authn", "oidc", i, "header"))
		}
		if is.Introspection == nil {
			continue
		}
		if other, ok := asks[name]; ok {
			errs = append(errs, keypath.At(fmt.Errorf("%q has it already for tokens in %s", other, name), "authn", "oidc", i, "introspection"))
		}
		asks[name] = is.Issuer
	}
	return errors.Join(errs...)
}

// CredentialHeaders are the canonical names of the headers that carry credentials beside
// those which do everywhere: a Chain of c keeps them from agents.
func (c *Config) CredentialHeaders() []string {
	names := []string{credential.KeyHeader}
	if c.APIKeys != nil {
		names = append(names, c.APIKeys.HeaderName())
	}
	for i := range c.OIDC {
		if name := c.OIDC[i].HeaderName(); name != credential.Authorization {
			names = append(names, name)
		}
	}
	return names
}
