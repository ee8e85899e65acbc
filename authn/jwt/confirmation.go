package jwt

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// confirmation is what a token is bound to (RFC 7800 cnf): whoever presents it must
// show that it is theirs. The zero value is a token that anybody may present.
type confirmation struct {
	jkt string // thumbprint of the key of its DPoP proofs (RFC 9449 §6.1)
	x5t string // SHA-256 of the client certificate, x5t#S256 (RFC 8705 §3.1)
}

// readConfirmation reads the claim cnf of a token. A binding that cannot be checked
// here is refused: to take the token all the same would undo it.
func readConfirmation(claims map[string]any) (confirmation, error) {
	v, ok := claims["cnf"]
	if !ok {
		return confirmation{}, nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return confirmation{}, refuse(faultBound, errors.New("claim cnf is not an object"))
	}
	var c confirmation
	for _, m := range []struct {
		name string
		into *string
	}{{"jkt", &c.jkt}, {"x5t#S256", &c.x5t}} {
		v, ok := members[m.name]
		if !ok {
			continue
		}
		s, _ := v.(string)
		if sum, err := jws.Decode(s); err != nil || len(sum) != sha256.Size {
			return confirmation{}, refuse(faultBound, fmt.Errorf("claim cnf.%s is not a SHA-256", m.name))
		}
		*m.into = s
	}
	if c == (confirmation{}) {
		return confirmation{}, refuse(faultBound, errors.New("claim cnf names no proof that is known here"))
	}
	return c, nil
}

// proof is Principal.Proof of a credential with this binding.
func (c confirmation) proof() string {
	switch {
	case c.jkt != "" && c.x5t != "":
		return "dpop mtls"
	case c.jkt != "":
		return "dpop"
	case c.x5t != "":
		return "mtls"
	}
	return ""
}

// proved holds the sender of a token to what it is bound to, on every request: that
// the token was verified a moment ago says nothing of who sends it now.
func (b *Scheme) proved(r *http.Request, p credential.Presented, e *entry) error {
	c := e.bound
	switch {
	case p.Scheme == credential.SchemeDPoP && c.jkt == "":
		return refuse(faultUnbound, errors.New("a DPoP token without cnf.jkt"))
	case p.Scheme == credential.SchemeBearer && c.jkt != "":
		// RFC 9449 §7.2: whoever stole it would present it like this.
		return refuse(faultBound, errors.New("claim cnf.jkt, presented as a bearer token"))
	}
	if c.x5t != "" {
		shown := clientcert.Thumbprint(r)
		if subtle.ConstantTimeCompare([]byte(shown), []byte(c.x5t)) != 1 {
			return refuse(faultBound, errors.New("claim cnf.x5t#S256, another certificate or none"))
		}
	}
	if c.jkt != "" {
		return b.prover.Check(r, e.principal.Key(), p.Token, c.jkt)
	}
	return nil
}
