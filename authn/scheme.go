package authn

import (
	"net/http"
)

// Scheme is one way to authenticate: a kind of credential, with all that a Chain wants to
// know of it. Its methods follow the contract "not mine": for a request, or a principal,
// without a credential of the scheme they return [ErrNoCredentials], and the next scheme is
// asked; any other answer is final.
//
// A Scheme that asks for tokens may have Usage too, one whose proofs repeat a value Nonce,
// and one that fetches or watches something Warm and Close.
type Scheme interface {
	// Name is what authn.prefer and authn.combinations call the scheme.
	Name() string
	// Carriers are the places that credentials of the scheme come in, one at least.
	Carriers() []Carrier
	// Only authenticates the one credential of the scheme that a request carries, in
	// whichever place. Two of them are ErrAmbiguous.
	Only(r *http.Request) (*Principal, error)

	// Owns reports whether a principal rests on a credential of the scheme.
	Owns(p *Principal) bool
	// Stands reports whether a principal that the scheme owns would still be
	// authenticated, as Chain.Stands does.
	Stands(p *Principal) error
	// Recall is a principal that was written down, as it is now, as Chain.Recall.
	Recall(p *Principal) (*Principal, error)

	// Bearer reports whether credentials come as Authorization: Bearer.
	Bearer() bool
	// Challenges are the WWW-Authenticate values that ask for a credential of the scheme,
	// but for the one of Bearer, which schemes may share.
	Challenges(d *Demand) []string
	// Ways say, for people, in which headers credentials come beside Authorization: Bearer.
	Ways() []string
	// Challenger is where a challenge tells that the credential of that name in
	// authn.combinations is missing: its scheme, and its header unless that is
	// Authorization. ok is false when the credential is not this scheme's, or has no
	// challenge.
	Challenger(name string) (scheme, header string, ok bool)
}

// Carrier is one place of a request in which credentials of a scheme come.
type Carrier interface {
	// Header is the canonical name of the header, "" for the connection itself.
	Header() string
	// Authenticate verifies the credential in this place. The principal says in Carrier
	// which header it came in.
	Authenticate(r *http.Request) (*Principal, error)
}

// Connection is the Carrier whose credential belongs to the connection. A Chain has one at
// most, and looks at it where the header has nothing, or a combination asks for it.
type Connection interface {
	Carrier
	// Unread stands for the credential before it is looked at; nil where there is none.
	Unread(r *http.Request) *Principal
}

// Usage says how callers have to present access tokens, for the RFC 9728 metadata of
// the gateway. Without issuers there are none, and it is zero.
type Usage struct {
	Issuers []string // whose tokens are taken, in the order of configuration
	Bearer  bool     // some of them in Authorization, where RFC 6750 has them
	Bound   bool     // none that is not bound to its sender
	Proofs  []string // JWS algorithms of DPoP proofs
}
