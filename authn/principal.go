package authn

import (
	"slices"
	"strconv"
	"time"
)

// Principal is who is calling, as far as a verified credential says. It is
// immutable once a Chain has returned it: the same Principal may serve many
// requests at once.
type Principal struct {
	Subject string // unique within Issuer; never empty
	Issuer  string // OIDC issuer URL; "api-keys" and "anonymous" for the others
	Client  string // OAuth client (azp, client_id), if the credential names one
	Tenant  string // from the configured claim or the key; may be empty
	Groups  []string
	Scopes  []string
	Method  string         // how it was proved: "oidc", "introspection", "api-key", "mtls" or "anonymous"
	KeyID   string         // API key id or JWT kid, for the audit record
	Agents  []string       // agents the credential is bound to; nil means any
	Claims  map[string]any // all verified claims; nil for API keys
	Expires time.Time      // exp or the key's expiry, without clock tolerance; zero means never

	// Proof says what tied the credential to its sender: "dpop", "mtls", "dpop mtls",
	// or "" for one that is good in anybody's hands.
	Proof string
	// Actors act for Subject, the one that made the call first (RFC 8693 §4.1 act).
	// Nil: nobody does.
	Actors []Actor
	// How and when the user authenticated, as far as the credential says.
	ACR      string
	AMR      []string
	AuthTime time.Time
	// Owner is the person or team who answers for an API key.
	Owner string
	// Workload is the client identity that came with the user's, where
	// authn.combinations asks for both; else nil. Its own Workload is nil.
	Workload *Principal
	// Carrier is the canonical name of the header that held the credential; "" for
	// certificates and anonymous callers.
	Carrier string

	key      string   // what Key returns; empty in literals, which compute it each time
	keyHash  [32]byte // of the API key that was presented, as its file holds it; else zero
	evidence any      // of its scheme; nil in literals
}

// methodAnonymous is Principal.Method, and issuerAnonymous Principal.Issuer, of callers who
// have not said who they are. It cannot be configured as an issuer, which is always an
// address.
const (
	MethodAnonymous = "anonymous"
	IssuerAnonymous = "anonymous"
)

// Attest completes a principal before a Chain returns it: its key is computed once, and
// what it rests on is kept for its scheme to judge it by again.
func (p *Principal) Attest(evidence any) {
	if p.key == "" {
		p.key = p.identity()
	}
	p.evidence = evidence
}

// Evidence is what p rests on, as its scheme kept it.
func (p *Principal) Evidence() any { return p.evidence }

// Hash is that of the credential, where it is known by it.
func (p *Principal) Hash() [32]byte { return p.keyHash }

// KnownBy notes the hash of a credential that is known by it when it is recalled.
func (p *Principal) KnownBy(hash [32]byte) { p.keyHash = hash }

// Key identifies the principal across requests: two issuers with the same
// subject are two principals. How it was proved, and by way of which workload or
// actors it calls, is no part of it: a user's tasks are the user's through every
// client. The parts are length-prefixed, so that no choice of subject can collide
// with another issuer's.
func (p *Principal) Key() string {
	if p.key != "" {
		return p.key
	}
	return p.identity()
}

// Anonymous reports whether the caller has not said who it is.
func (p *Principal) Anonymous() bool { return p.Method == MethodAnonymous }

// identity computes the key, once per principal that a chain returns.
func (p *Principal) identity() string {
	return strconv.Itoa(len(p.Issuer)) + ":" + p.Issuer + strconv.Itoa(len(p.Subject)) + ":" + p.Subject
}

// String is for people: logs and error reports. It holds no credential.
func (p *Principal) String() string { return p.Subject + "@" + p.Issuer }

// Only is the one agent that the credentials are good for, workload's included; "" when
// they are good for none or several.
func (p *Principal) Only() string {
	list := p.Agents
	if list == nil && p.Workload != nil {
		list = p.Workload.Agents
	}
	only := ""
	for _, agent := range list {
		switch {
		case agent == only || !p.MayUse(agent):
		case only != "":
			return ""
		default:
			only = agent
		}
	}
	return only
}

// MayUse reports whether the credential is good for this agent at all. It is a
// bound of the credential, checked before and beside every policy rule. A list
// that is there but empty allows no agent. A workload's bound counts as well.
func (p *Principal) MayUse(agent string) bool {
	return (p.Agents == nil || slices.Contains(p.Agents, agent)) &&
		(p.Workload == nil || p.Workload.MayUse(agent))
}

// Actor is one party of a delegation (RFC 8693 §4.1).
type Actor struct {
	Subject string // sub; never empty
	Issuer  string // iss where the claim names one, else that of the credential
}

// String is for people and records.
func (a Actor) String() string { return a.Subject + "@" + a.Issuer }

// Claim finds a verified claim by its whole name, or as a path whose dots go down into
// objects, as the claim names of the configuration are read. Its value is what JSON
// makes of it: a string, float64, bool, []any, map[string]any or nil.
func (p *Principal) Claim(path string) (any, bool) { return LookupClaim(p.Claims, path) }

// LookupClaim finds a claim by its whole name, or as a path whose dots go down into
// objects. Each prefix is tried, since names may contain dots themselves.
func LookupClaim(claims map[string]any, path string) (any, bool) {
	if v, ok := claims[path]; ok {
		return v, true
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if inner, ok := claims[path[:i]].(map[string]any); ok {
			if v, ok := LookupClaim(inner, path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// MaxName bounds the names that end up in records and logs (OpenID Connect Core
// §2 allows 255 for sub).
const MaxName = 255
