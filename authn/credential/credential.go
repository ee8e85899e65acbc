// Package credential names what carries credentials over HTTP: the headers, the schemes of
// Authorization (RFC 9110 §11) that tokens come with, and the prefix of the gateway's API keys.
// ReadToken takes a header's value apart, and CheckHeader says which headers a configuration
// may choose for a credential of its own.
//
// Every scheme of authn reads headers through this package, so that all of them agree on what
// is presented: a value that one scheme took for its token and another for none would be judged
// by whichever came first. It judges nothing itself.
package credential

import (
	"net/http"
	"strings"
)

// Challenge schemes of tokens.
const (
	SchemeBearer = "Bearer"
	SchemeDPoP   = "DPoP" // RFC 9449 §7.1
)

// Authorization is the header of RFC 9110 §11.6.2, in canonical form.
const Authorization = "Authorization"

// ProofHeader carries DPoP proofs (RFC 9449 §4.1), in Go's canonical form. It is no
// credential by itself.
const ProofHeader = "Dpop"

// KeyHeader carries API keys unless the configuration names another one. It counts,
// and is kept from agents, even where API keys are not configured or travel in another
// one: somebody's key is in it.
const KeyHeader = "X-Api-Key"

// KeyPrefix begins every API key of a gateway. The prefix lets secret scanners, people and
// other schemes recognise it.
const KeyPrefix = "a2a_"

// NotAKey is about what cannot be a key, as everybody can see. Of what may be one nothing is said.
const NotAKey = "this is no API key of this gateway, which begins with " + KeyPrefix + ": "

// Presented is a token as a header holds it.
type Presented struct {
	Token  string
	Scheme string // Bearer or DPoP; "" where it stands alone in a header of its own
}

// ReadToken takes the value of a header apart. Names of schemes are case-insensitive
// (RFC 9110 §11.1) and followed by spaces (RFC 6750 §2.1). alone admits a token
// without one.
func ReadToken(value string, alone bool) (Presented, bool) {
	for _, name := range [...]string{SchemeBearer, SchemeDPoP} {
		if len(value) < len(name) || !strings.EqualFold(value[:len(name)], name) {
			continue
		}
		rest := value[len(name):]
		token := strings.TrimLeft(rest, " ")
		if rest == "" || len(token) < len(rest) {
			return Presented{Token: token, Scheme: name}, true
		}
	}
	return Presented{Token: value}, alone
}

// BearerToken is the token of an Authorization header of that scheme.
func BearerToken(r *http.Request) (string, bool) {
	p, ok := ReadToken(r.Header.Get(Authorization), false)
	return p.Token, ok && p.Scheme == SchemeBearer
}

// Missing says that a scheme stands alone, as with a variable that is empty.
func (p Presented) Missing() string {
	return "no credential is behind " + p.Scheme + " in Authorization: "
}
