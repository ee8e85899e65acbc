package identities

import (
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Identities is the answer of GET /api/v1/identities: whose credentials are taken.
type Identities struct {
	Issuers      []Issuer         `json:"issuers" doc:"token issuers (authn.oidc)"`
	APIKeys      *KeyRing         `json:"apiKeys,omitzero" doc:"API keys (authn.apiKeys); absent if the gateway accepts none"`
	Certificates *ClientIdentity  `json:"certificates,omitzero" doc:"client certificates (authn.mtls); absent if no certificate is an identity"`
	Authorities  []CA             `json:"authorities" doc:"CAs that verify client certificates (server.tls.clientCA)"`
	Combinations []CredentialPair `json:"combinations" doc:"sets of credentials (authn.combinations); if empty, a call has exactly one credential"`
	Anonymous    bool             `json:"anonymous" doc:"the gateway admits callers without a credential"`
}

// Issuer is an identity provider, and how its keys stand.
type Issuer struct {
	Issuer            string      `json:"issuer"`
	Header            string      `json:"header" doc:"header that carries the issuer's tokens"`
	Audiences         []string    `json:"audiences"`
	Algorithms        []string    `json:"algorithms"`
	Tenant            string      `json:"tenant,omitzero" doc:"tenant of all the issuer's callers"`
	SenderConstrained bool        `json:"senderConstrained" doc:"the gateway refuses tokens that are not bound to a key or certificate"`
	Introspection     bool        `json:"introspection" doc:"the gateway introspects tokens at the issuer"`
	Keys              []IssuerKey `json:"keys" doc:"known keys; none before the first token of the issuer"`
	Fetched           time.Time   `json:"fetched,omitzero" doc:"when the gateway fetched the issuer's keys"`
	Fresh             time.Time   `json:"fresh,omitzero" doc:"when the gateway must fetch the keys again"`
	Failure           string      `json:"failure,omitzero" doc:"why the latest fetch failed; known keys then stay valid for a day"`
}

// IssuerKey is a public key that an issuer signs with.
type IssuerKey struct {
	ID        string `json:"id,omitzero" doc:"id of the key (kid)"`
	Algorithm string `json:"algorithm,omitzero" doc:"the only algorithm that the key is for"`
	Kind      string `json:"kind"`
}

// KeyRing is where API keys are kept, and how they come.
type KeyRing struct {
	File   string `json:"file"`
	Header string `json:"header"`
	Bearer bool   `json:"bearer" doc:"the gateway also accepts keys as bearer tokens"`
	API    bool   `json:"api" doc:"admins may create and rotate keys over this API (authn.apiKeys.api)"`
	Shared bool   `json:"shared" doc:"a key can be revoked for all gateways that share the state"`
	Keys   int    `json:"keys" doc:"number of keys in the file"`
}

// ClientIdentity says which certificates are identities.
type ClientIdentity struct {
	Names        []string `json:"names" doc:"kinds of names that can be the subject, in order of preference"`
	TrustDomains []string `json:"trustDomains" doc:"accepted trust domains of SPIFFE ids; empty for any"`
	Identities   int      `json:"identities" doc:"number of entries with attributes of a name; if not 0, the gateway refuses names without an entry"`
}

// CA is a certificate that others are verified by.
type CA struct {
	Subject  string    `json:"subject"`
	Serial   string    `json:"serial" doc:"serial number in hexadecimal"`
	NotAfter time.Time `json:"notAfter"`
}

// CredentialPair is credentials that come together.
type CredentialPair struct {
	User   string `json:"user"`
	Client string `json:"client,omitzero"`
}

// Callers are those who may call, as the gateway knows them.
type Callers interface {
	// Identities says whose credentials are taken.
	Identities() Identities
}

// screen says whose credentials are taken.
type screen struct{ callers Callers }

// Screen is that of whose credentials are taken.
func Screen(callers Callers) api.Screen {
	s := &screen{callers}
	return api.Screen{
		Title: "Identities", Page: "/identities", Link: true,
		Shows: "token issuers, their signing keys and errors of fetching them; API keys with callers, owners and last use; create, rotate and revoke keys; CAs of client certificates with their expiry",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/identities", ID: "identities", Tag: "identities", Role: api.Viewer,
			Summary: "List the accepted kinds of credentials: token issuers with their keys, API keys, client certificates",
			Out:     reflect.TypeFor[Identities](), Answer: s.identities,
		}},
	}
}

func (s *screen) identities(*api.Call) (any, error) { return s.callers.Identities(), nil }
