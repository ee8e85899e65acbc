package credentials

import (
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Credential is one identity shown to the agent. Exactly one of Value, OAuth2,
// Exchange, Assertion and Passthrough is set.
type Credential struct {
	// Header that carries it. Default Authorization.
	Header string `yaml:"header"`

	// Prefix stands before a token that the gateway fetched or made. Default: "Bearer "
	// in Authorization, nothing in other headers.
	Prefix *string `yaml:"prefix"`

	// On says when it is shown: always (default), or auth-required: only in the answer
	// that the gateway gives, once, to a task that asks for authorization.
	On string `yaml:"on" jsonschema:"enum=always,enum=auth-required"`

	// Value is a static secret, with its scheme where the header wants one:
	// "Bearer ${TOKEN}".
	Value secret.Value `yaml:"value"`

	// OAuth2 fetches a token by the client credentials grant (RFC 6749 §4.4). It is the
	// same for every caller.
	OAuth2 *OAuth2 `yaml:"oauth2"`

	// Exchange fetches a token for the caller at another system's authorization server
	// (RFC 8693). It is kept for that caller until shortly before it expires.
	Exchange *Exchange `yaml:"exchange"`

	// Assertion is a JWT of the gateway's own that says who calls and for what, signed
	// with its keys and verified by the JWK set at /.well-known/jwks.json.
	Assertion *Assertion `yaml:"assertion"`

	// Passthrough copies the caller's own header. It hands the agent a
	// credential that is good at the gateway too, so it must be written out.
	Passthrough bool `yaml:"passthrough"`

	// Audience, with Passthrough, is an audience that the caller's token must name
	// beside the gateway's: a call without is refused rather than sent without it.
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
	// ClientID and ClientSecret authenticate the gateway there.
	ClientID     string       `yaml:"clientID"`
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Scopes asked for. Empty asks for the client's default.
	Scopes []string `yaml:"scopes"`
	// Audience is sent as the audience parameter where the server wants one.
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
