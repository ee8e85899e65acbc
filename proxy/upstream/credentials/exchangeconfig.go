package credentials

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Exchange is credentials[].exchange: the gateway gets a token of another system for the
// caller, by token exchange (RFC 8693).
type Exchange struct {
	// TokenURL is the token endpoint.
	TokenURL secret.URL `yaml:"tokenURL"`
	// ClientID and ClientSecret authenticate the gateway at the token endpoint.
	ClientID     string       `yaml:"clientID"`
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Grant is token-exchange (default, RFC 8693) or jwt-bearer (RFC 7523), which sends the
	// subject token as the assertion.
	Grant string `yaml:"grant" jsonschema:"enum=token-exchange,enum=jwt-bearer"`
	// Subject is the token that says for whom the gateway asks. With token (default), it is the
	// caller's own, unchanged. With client, it is that of the workload that calls for the caller,
	// and Identity and Permissions are about the workload. With assertion, it is a JWT that the
	// gateway signs, with the subject that Identity gives, for servers that trust its keys. For
	// the first two, the gateway refuses other credentials than tokens, such as API keys.
	Subject string `yaml:"subject" jsonschema:"enum=token,enum=client,enum=assertion"`
	// SubjectType is the subject_token_type. Default: the access_token type of RFC 8693 §3, for
	// assertions the jwt type.
	SubjectType string `yaml:"subjectType"`
	// Actor is the actor_token: none (default), client (the gateway's own token, by client
	// credentials at the same server), or assertion (a JWT that names the gateway).
	Actor string `yaml:"actor" jsonschema:"enum=none,enum=client,enum=assertion"`
	// Audience and Resource name who the token is for (RFC 8693 §2.1). With On: auth-required, a
	// task that names audiences must name one of these.
	Audience []string `yaml:"audience"`
	Resource []string `yaml:"resource"`
	// RequestedType is the requested_token_type. Default: none is sent.
	RequestedType string `yaml:"requestedType"`
	// Identity maps the caller to a subject of the other system. With Subject token, it only
	// decides whether the gateway requests a token for the caller.
	Identity *Identity `yaml:"identity"`
	// Permissions says which scopes the gateway requests. Default: no scope parameter is sent.
	Permissions *Permissions `yaml:"permissions"`
}

// Assertion is credentials[].assertion.
type Assertion struct {
	// Audience is the aud claim. Default: the origin of the interface that the gateway calls. If
	// another agent's card URL or `interfaces` are at that origin, it is the whole URL of the
	// interface without a query.
	Audience string `yaml:"audience"`
	// Lifetime from iat to exp. Default: 60s, at most 5m.
	Lifetime quantity.Duration `yaml:"lifetime"`
	// Identity maps the caller to a subject of the agent's system. Default: the caller's subject.
	// In any case, sub_id (RFC 9493) has the issuer and the subject as authenticated.
	Identity *Identity `yaml:"identity"`
	// Permissions says which scopes the scope claim has. Default: the caller's own.
	Permissions *Permissions `yaml:"permissions"`
}

// Identity maps the caller to a subject of another system.
type Identity struct {
	// Issuers limits the mapping to callers of these issuers, by the names that rules use. The
	// gateway refuses callers of other issuers, because there the same subject or address may be
	// somebody else. Default: all.
	Issuers []string `yaml:"issuers"`
	// Claim of the caller's credential that the gateway maps, by name or path: subject (default),
	// client, email, …
	Claim string `yaml:"claim"`
	// Subjects maps values of the claim to subjects of the other system. The gateway refuses a
	// caller whose value has no entry. With no entries at all, the value is the subject.
	Subjects map[string]string `yaml:"subjects"`
}

// Permissions maps what the caller may do to scopes of another system.
type Permissions struct {
	// Scopes and Groups map each scope or group of the caller to scopes of the other system.
	Scopes map[string][]string `yaml:"scopes"`
	Groups map[string][]string `yaml:"groups"`
	// Always are scopes to request for every caller.
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
