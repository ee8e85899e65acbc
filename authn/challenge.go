package authn

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Demand is what a refused call would have needed, for its challenge.
type Demand struct {
	Realm string
	// ResourceMetadata is the address of the RFC 9728 document; empty leaves it out.
	ResourceMetadata string
	// Err is what Authenticate or the policy said: nothing for ErrNoCredentials
	// (RFC 6750 §3.1: a caller who tried nothing gets no error code), the code and
	// reason of a *Refused, invalid_request for ErrAmbiguous. With a scope, any other
	// error, nil included, is a good credential that lacks it: insufficient_scope.
	Err error
	// Scope lists what the credential lacks, separated by spaces.
	Scope string
	// StepUp asks for another authentication of the user
	// (RFC 9470: insufficient_user_authentication); nil for none.
	StepUp *StepUp
}

// StepUp is the authentication that a call needs (RFC 9470 §3).
type StepUp struct {
	ACR    []string       // acr_values, in the order of preference; none leaves them out
	MaxAge *time.Duration // max_age; nil leaves it out
}

// Challenges returns the WWW-Authenticate values for a 401 or 403, one per scheme
// that is configured, or none when the gateway asks for no credential. Tokens that
// have a header of their own are asked for as Bearer ones with its name.
func (c *Chain) Challenges(d Demand) []string {
	var out []string
	if c.takesBearer() {
		out = append(out, TokenChallenge(credential.SchemeBearer, "", &d))
	}
	for _, s := range slices.Backward(c.schemes) { // those that clients know best come first
		out = append(out, s.Challenges(&d)...)
	}
	return out
}

// TokenChallenge is the one that asks for a token; header is "" for Authorization.
func TokenChallenge(scheme, header string, d *Demand) string {
	ch := NewChallenge(scheme, d.Realm)
	if scheme == credential.SchemeDPoP {
		ch.Param("algs", strings.Join(Signatures.Algorithms, " ")) // of proofs (RFC 9449 §7.1)
	}
	ch.Param("header", header)
	if !ch.Explain(scheme, header, d.Err) {
		ch.lack(d)
	}
	ch.Param("scope", d.Scope)
	ch.Param("resource_metadata", d.ResourceMetadata)
	return ch.String()
}

// Nonce is the value of DPoP-Nonce for an answer to a caller whose proof has to repeat
// it (RFC 9449 §8.2); "" when none is asked for.
func (c *Chain) Nonce() string {
	for _, s := range c.schemes {
		if s, ok := s.(interface{ Nonce() string }); ok {
			return s.Nonce()
		}
	}
	return ""
}

// takesBearer reports whether any scheme reads Authorization: Bearer.
func (c *Chain) takesBearer() bool {
	return slices.ContainsFunc(c.schemes, Scheme.Bearer)
}

// Challenge builds one WWW-Authenticate value (RFC 9110 §11.6.1).
type Challenge struct {
	strings.Builder
}

func NewChallenge(scheme, realm string) *Challenge {
	c := new(Challenge)
	_, _ = c.WriteString(scheme)
	_, _ = c.WriteString(` realm="`)
	c.quote(realm)
	_ = c.WriteByte('"')
	return c
}

// Param adds a parameter unless it is empty.
func (c *Challenge) Param(name, value string) {
	if value == "" {
		return
	}
	_, _ = c.WriteString(", " + name + `="`)
	c.quote(value)
	_ = c.WriteByte('"')
}

// quote writes the inside of a quoted-string. What RFC 6750 §3 does not allow in
// one, quotes and line breaks above all, becomes a space or an apostrophe, so that
// no configured or computed value can end the string or the header.
func (c *Challenge) quote(s string) {
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			_ = c.WriteByte('\'')
		case b < ' ' || b > '~':
			_ = c.WriteByte(' ')
		default:
			_ = c.WriteByte(b)
		}
	}
}

// Explain adds error and error_description to the challenge that err is about. It
// reports whether err is about credentials at all.
func (c *Challenge) Explain(scheme, header string, err error) bool {
	refused := new(Refused)
	switch {
	case errors.Is(err, ErrNoCredentials):
	case errors.Is(err, ErrAmbiguous):
		c.Param("error", "invalid_request")
		c.Param("error_description", "more than one credential in the request")
	case errors.As(err, &refused):
		// Tokens in a header of their own have one challenge, proofs or not.
		if refused.Header == header && (refused.Scheme == scheme || header != "") {
			c.Param("error", refused.Code)
			c.Param("error_description", refused.told())
		}
	default:
		return false
	}
	return true
}

// lack adds what a good credential is not good enough in. Another authentication comes
// before a scope (RFC 9470 §3): its token may bring the scope along.
func (c *Challenge) lack(d *Demand) {
	switch {
	case d.StepUp != nil:
		c.Param("error", "insufficient_user_authentication")
		c.Param("error_description", "another authentication of the user is needed")
		c.Param("acr_values", strings.Join(d.StepUp.ACR, " "))
		if age := d.StepUp.MaxAge; age != nil {
			c.Param("max_age", strconv.FormatInt(int64(*age/time.Second), 10))
		}
	case d.Scope != "":
		c.Param("error", "insufficient_scope")
	}
}

// Signatures has the closed list of what tokens and proofs can be signed with. There is no
// HMAC and no "none" in it, and no option adds one.
var Signatures = jws.Profile{Algorithms: []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}}

// Usage is how access tokens are taken.
func (c *Chain) Usage() Usage {
	for _, s := range c.schemes {
		if s, ok := s.(interface{ Usage() Usage }); ok {
			return s.Usage()
		}
	}
	return Usage{}
}

// Issuers are the configured OIDC issuers in order, for RFC 9728 metadata and the
// security schemes of served cards.
func (c *Chain) Issuers() []string { return c.Usage().Issuers }
