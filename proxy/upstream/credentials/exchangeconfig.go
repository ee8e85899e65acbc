package credentials

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Exchange is credentials[].exchange: a token of another system for the caller, got by
// token exchange (RFC 8693).
type Exchange struct {
	// TokenURL is the token endpoint.
	TokenURL secret.URL `yaml:"tokenURL"`
	// ClientID and ClientSecret authenticate the gateway there.
	ClientID     string       `yaml:"clientID"`
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Grant is token-exchange (default, RFC 8693) or jwt-bearer (RFC 7523), where the
	// subject token goes as the assertion.
	Grant string `yaml:"grant" jsonschema:"enum=token-exchange,enum=jwt-bearer"`
	// Subject is the token that says for whom: token (default; the caller's own, as it
	// came), client (that of the workload beside it, whom Identity and Permissions are
	// then about), or assertion (a JWT signed by the gateway with the subject that
	// Identity gives, for servers that trust its keys). Callers without a token, as
	// those with an API key, are nobody for the first two.
	Subject string `yaml:"subject" jsonschema:"enum=token,enum=client,enum=assertion"`
	// SubjectType is the subject_token_type. Default: the access_token one of RFC 8693
	// §3, for assertions the jwt one.
	SubjectType string `yaml:"subjectType"`
	// Actor is the actor_token: none (default), client (a token of the gateway's own by
	// client credentials at the same server), or assertion (a JWT that names the gateway).
	Actor string `yaml:"actor" jsonschema:"enum=none,enum=client,enum=assertion"`
	// Audience and Resource name who the token is for (RFC 8693 §2.1). With On:
	// auth-required they are also what a task must ask for.
	Audience []string `yaml:"audience"`
	Resource []string `yaml:"resource"`
	// RequestedType is the requested_token_type. Default: none is sent.
	RequestedType string `yaml:"requestedType"`
	// Identity says who the caller is in the other system. With Subject token it only
	// decides whether the caller is somebody there.
	Identity *Identity `yaml:"identity"`
	// Permissions says which scopes to ask for. Default: no scope parameter is sent.
	Permissions *Permissions `yaml:"permissions"`
}

// Assertion is credentials[].assertion.
type Assertion struct {
	// Audience is the aud claim. Default: the origin of the interface that is called, or its
	// whole URL without a query where another agent is at that origin, by its card's URL or
	// its interfaces here.
	Audience string `yaml:"audience"`
	// Lifetime from iat to exp. Default: 60s, at most 5m.
	Lifetime quantity.Duration `yaml:"lifetime"`
	// Identity says who the caller is in the agent's system. Default: the caller's
	// subject; issuer and subject as authenticated are in sub_id (RFC 9493) in any case.
	Identity *Identity `yaml:"identity"`
	// Permissions says which scopes the scope claim has. Default: the caller's own.
	Permissions *Permissions `yaml:"permissions"`
}

// Identity maps the caller to a subject of another system.
type Identity struct {
	// Issuers are those whose callers this is about, by the names that rules use; any
	// other's are nobody. Default: all. Subjects and addresses of one issuer may be
	// somebody else's at another.
	Issuers []string `yaml:"issuers"`
	// Claim of the caller's credential to look at, by name or path: subject (default),
	// client, email, …
	Claim string `yaml:"claim"`
	// Subjects gives the other system's subject for a value. Without an entry the caller
	// is nobody there and the call is refused; with no entries at all the value is the
	// subject.
	Subjects map[string]string `yaml:"subjects"`
}

// Permissions maps what the caller may do to scopes of another system.
type Permissions struct {
	// Scopes and Groups give the other system's scopes for a scope or group of the
	// caller.
	Scopes map[string][]string `yaml:"scopes"`
	Groups map[string][]string `yaml:"groups"`
	// Always are asked for whoever calls.
	Always []string `yaml:"always"`
}

// What Exchange.Grant, Subject and Actor may say. The first of each is the default.
const (
	grantExchange = "token-exchange"
	grantBearer   = "jwt-bearer"

	subjectToken     = "token"
	subjectClient    = "client"
	subjectAssertion = "assertion"

	actorNone      = "none"
	actorClient    = "client"
	actorAssertion = "assertion"
)

// Token types of RFC 8693 §3.
const (
	typeAccess  = "urn:ietf:params:oauth:token-type:access_token"
	typeRefresh = "urn:ietf:params:oauth:token-type:refresh_token"
	typeJWT     = "urn:ietf:params:oauth:token-type:jwt"
)
