package credentials

import (
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Credential is one identity that the gateway shows to the agent. Exactly one of Value, OAuth2,
// Exchange, Assertion and Passthrough is set.
type Credential struct {
	// Header that carries the credential. Default Authorization.
	Header string `yaml:"header"`

	// Prefix is the text before a token that the gateway fetched or made. Default: "Bearer " in
	// Authorization, nothing in other headers.
	Prefix *string `yaml:"prefix"`

	// On says when the gateway shows the credential: always (default), or auth-required: only in
	// its own answer, given once, to a task that asks for authorization.
	On string `yaml:"on" jsonschema:"enum=always,enum=auth-required"`

	// Value is a static secret, with its scheme if the header needs one: "Bearer ${TOKEN}".
	Value secret.Value `yaml:"value"`

	// OAuth2 fetches a token by the client credentials grant (RFC 6749 §4.4). It is the same for
	// every caller.
	OAuth2 *OAuth2 `yaml:"oauth2"`

	// Exchange fetches a token for the caller at another system's authorization server (RFC 8693).
	// The gateway caches it for that caller until shortly before it expires.
	Exchange *Exchange `yaml:"exchange"`

	// Assertion is a JWT that says who calls and for what. The gateway signs it with its own keys;
	// the JWK set at /.well-known/jwks.json verifies it.
	Assertion *Assertion `yaml:"assertion"`

	// Passthrough copies the caller's own header. It must be set explicitly, because the agent
	// gets a credential that is good at the gateway too.
	Passthrough bool `yaml:"passthrough"`

	// Audience, with Passthrough, is an audience that the caller's token must name besides the
	// gateway's. The gateway refuses a call without it, instead of leaving the header out.
	Audience string `yaml:"audience"`
}

const authorization = "Authorization"

// What Credential.On may say.
const (
	always         = "always"
	onAuthRequired = "auth-required"
)

// OAuth2 names a client at an authorization server.
type OAuth2 struct {
	// TokenURL is the token endpoint.
	TokenURL secret.URL `yaml:"tokenURL"`
	// ClientID and ClientSecret authenticate the gateway at the token endpoint.
	ClientID     string       `yaml:"clientID"`
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Scopes that the gateway requests. Empty requests the client's default.
	Scopes []string `yaml:"scopes"`
	// Audience is the audience parameter, for servers that want one.
	Audience string `yaml:"audience"`
}

// header returns the canonical name of the header that carries the credential.
func (c Credential) header() string {
	if c.Header == "" {
		return authorization
	}
	return http.CanonicalHeaderKey(c.Header)
}

// prefix is what stands before a token in that header.
func (c Credential) prefix() string {
	switch {
	case c.Prefix != nil:
		return *c.Prefix
	case c.header() == authorization:
		return "Bearer "
	}
	return ""
}

// orDefault is d, or def where d is not set.
func orDefault(d quantity.Duration, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d.Std()
}
