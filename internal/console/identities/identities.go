package identities

import (
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Identities is the answer of GET /api/v1/identities: whose credentials are taken.
type Identities struct {
	Issuers      []Issuer         `json:"issuers" doc:"authn.oidc"`
	APIKeys      *KeyRing         `json:"apiKeys,omitzero" doc:"authn.apiKeys; nothing where none is accepted"`
	Certificates *ClientIdentity  `json:"certificates,omitzero" doc:"authn.mtls; nothing where no certificate is an identity"`
	Authorities  []CA             `json:"authorities" doc:"that client certificates are verified by (server.tls.clientCA)"`
	Combinations []CredentialPair `json:"combinations" doc:"authn.combinations; where there are none, a call has exactly one credential"`
	Anonymous    bool             `json:"anonymous" doc:"callers without any credential are let in"`
}

// Issuer is an identity provider, and how its keys stand.
type Issuer struct {
	Issuer            string      `json:"issuer"`
	Header            string      `json:"header" doc:"that its tokens come in"`
	Audiences         []string    `json:"audiences"`
	Algorithms        []string    `json:"algorithms"`
	Tenant            string      `json:"tenant,omitzero" doc:"of all its callers"`
	SenderConstrained bool        `json:"senderConstrained" doc:"tokens that are bound to nothing are refused"`
	Introspection     bool        `json:"introspection" doc:"it is asked about tokens"`
	Keys              []IssuerKey `json:"keys" doc:"those known; none before a token of it was shown"`
	Fetched           time.Time   `json:"fetched,omitzero" doc:"when its keys were"`
	Fresh             time.Time   `json:"fresh,omitzero" doc:"until when they may be used without asking again"`
	Failure           string      `json:"failure,omitzero" doc:"why the latest fetch brought nothing; keys that are known hold for a day then"`
}

// IssuerKey is a public key that an issuer signs with.
type IssuerKey struct {
	ID        string `json:"id,omitzero" doc:"kid"`
	Algorithm string `json:"algorithm,omitzero" doc:"the only one it is for"`
	Kind      string `json:"kind"`
}

// KeyRing is where API keys are kept, and how they come.
type KeyRing struct {
	File   string `json:"file"`
	Header string `json:"header"`
	Bearer bool   `json:"bearer" doc:"they may come as bearer tokens, too"`
	API    bool   `json:"api" doc:"admins may make and rotate keys here (authn.apiKeys.api)"`
	Shared bool   `json:"shared" doc:"a key can be revoked for all gateways of the state"`
	Keys   int    `json:"keys" doc:"in the file"`
}

// ClientIdentity says which certificates are identities.
type ClientIdentity struct {
	Names        []string `json:"names" doc:"kinds of names that are a subject, in the order of preference"`
	TrustDomains []string `json:"trustDomains" doc:"of SPIFFE ids; any where there are none"`
	Identities   int      `json:"identities" doc:"entries that say more of a name; with any, names without one are refused"`
}

// CA is a certificate that others are verified by.
type CA struct {
	Subject  string    `json:"subject"`
	Serial   string    `json:"serial" doc:"hexadecimal"`
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
		Shows: "token issuers, their signing keys and why fetching them failed; API keys with their callers, owners and last use; create, rotate and revoke; CAs of client certificates and when they expire",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/identities", ID: "identities", Tag: "identities", Role: api.Viewer,
			Summary: "Whose credentials are taken: issuers and their keys, API keys, client certificates",
			Out:     reflect.TypeFor[Identities](), Answer: s.identities,
		}},
	}
}

func (s *screen) identities(*api.Call) (any, error) { return s.callers.Identities(), nil }
