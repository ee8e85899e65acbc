package upstream

import (
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Config says how one agent is reached. The zero value reaches it without
// credentials, with the system's roots, under the default limits.
type Config struct {
	// Endpoints lists URLs (scheme, host, port) that the agent's card may name
	// beside the card's own origin. Anything else in a card is not contacted. For
	// gRPC the scheme may be grpcs or grpc, which mean https and http; a card that
	// says host:port alone is reached over the scheme that is listed.
	Endpoints []string `yaml:"endpoints"`

	// Credentials are added to every call; each sets one header. The caller's
	// own credential never reaches the agent unless one of them passes it on.
	Credentials []Credential `yaml:"credentials"`

	// TLS changes how https endpoints are verified. The files are read again when they
	// change; bad ones leave the last good ones in use.
	TLS TLS `yaml:"tls"`

	// Egress is the way to the agent where that is not the one of `egress`: another HTTP
	// proxy, or "none". It takes that section's place whole.
	Egress tunnel.Config `yaml:"egress"`

	// Connections limits calls in flight to the agent, streams included; on
	// HTTP/1.1 each has a connection of its own. Further ones are answered 503. One caller
	// may have as many as there are places left, so half of them at most.
	// Default 4096.
	Connections int `yaml:"connections"`

	// Connect limits dialling, through a proxy too, and the TLS handshake. Default 5s.
	Connect secret.Duration `yaml:"connectTimeout"`

	// Answer limits the wait for a unary answer's last byte and for a stream's
	// first. Default: server.timeouts.call.
	Answer secret.Duration `yaml:"answerTimeout"`

	// Load spreads calls over the agent's instances, and keeps those that fail from
	// holding calls up.
	Load Load `yaml:"load"`
}

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

// TLS verifies an agent that a public CA does not vouch for.
type TLS struct {
	// CA is a PEM file of roots to trust instead of the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files of the gateway's client certificate.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName replaces the endpoint's host in verification.
	ServerName string `yaml:"serverName"`
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

func orDefault(d secret.Duration, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d.Std()
}
