package authn

import (
	"net/http"
	"strings"
)

// scheme recognises one kind of credential. It must return an error that wraps
// ErrNoCredentials when the request has none of that kind; any other error, and a
// principal, are final. A principal says in Carrier which header it came in.
type scheme interface {
	authenticate(*http.Request) (*Principal, error)
}

// Challenge schemes. ApiKey is not a registered HTTP authentication scheme; it is
// what gateways commonly say, and tells a person which header to set.
const (
	schemeBearer = "Bearer"
	schemeDPoP   = "DPoP" // RFC 9449 §7.1
	schemeAPIKey = "ApiKey"
)

// authorization is the header of RFC 9110 §11.6.2, in canonical form.
const authorization = "Authorization"

// proofHeader carries DPoP proofs (RFC 9449 §4.1), in Go's canonical form. It is no
// credential by itself.
const proofHeader = "Dpop"

// presented is a token as a header holds it.
type presented struct {
	token  string
	scheme string // Bearer or DPoP; "" where it stands alone in a header of its own
}

// readToken takes the value of a header apart. Names of schemes are case-insensitive
// (RFC 9110 §11.1) and followed by spaces (RFC 6750 §2.1). alone admits a token
// without one.
func readToken(value string, alone bool) (presented, bool) {
	for _, name := range [...]string{schemeBearer, schemeDPoP} {
		if len(value) < len(name) || !strings.EqualFold(value[:len(name)], name) {
			continue
		}
		rest := value[len(name):]
		token := strings.TrimLeft(rest, " ")
		if rest == "" || len(token) < len(rest) {
			return presented{token: token, scheme: name}, true
		}
	}
	return presented{token: value}, alone
}

// bearerToken is the token of an Authorization header of that scheme.
func bearerToken(r *http.Request) (string, bool) {
	p, ok := readToken(r.Header.Get(authorization), false)
	return p.token, ok && p.scheme == schemeBearer
}
