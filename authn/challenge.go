package authn

import (
	"errors"
	"strings"
	"time"
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
// that is configured, or none when the gateway asks for no credential.
func (c *Chain) Challenges(d Demand) []string {
	realm, resourceMetadata, err, scope := d.Realm, d.ResourceMetadata, d.Err, d.Scope
	var out []string
	if c.takesBearer() {
		ch := newChallenge(schemeBearer, realm)
		ch.explain(schemeBearer, err, scope)
		ch.param("scope", scope)
		ch.param("resource_metadata", resourceMetadata)
		out = append(out, ch.String())
	}
	if c.keys != nil {
		ch := newChallenge(schemeAPIKey, realm)
		ch.param("header", c.keys.header)
		ch.explain(schemeAPIKey, err, "")
		out = append(out, ch.String())
	}
	return out
}

// takesBearer reports whether any scheme reads Authorization: Bearer.
func (c *Chain) takesBearer() bool {
	return c.bearer != nil || c.keys != nil && c.keys.bearer
}

// challenge builds one WWW-Authenticate value (RFC 9110 §11.6.1).
type challenge struct {
	strings.Builder
}

func newChallenge(scheme, realm string) *challenge {
	c := new(challenge)
	c.WriteString(scheme)
	c.WriteString(` realm="`)
	c.quote(realm)
	c.WriteByte('"')
	return c
}

// param adds a parameter unless it is empty.
func (c *challenge) param(name, value string) {
	if value == "" {
		return
	}
	c.WriteString(", " + name + `="`)
	c.quote(value)
	c.WriteByte('"')
}

// quote writes the inside of a quoted-string. What RFC 6750 §3 does not allow in
// one, quotes and line breaks above all, becomes a space or an apostrophe, so that
// no configured or computed value can end the string or the header.
func (c *challenge) quote(s string) {
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			c.WriteByte('\'')
		case b < ' ' || b > '~':
			c.WriteByte(' ')
		default:
			c.WriteByte(b)
		}
	}
}

// explain adds error and error_description to the challenge that err is about.
func (c *challenge) explain(scheme string, err error, scope string) {
	var refused *Refused
	switch {
	case errors.Is(err, ErrNoCredentials):
	case errors.Is(err, ErrAmbiguous):
		c.param("error", "invalid_request")
		c.param("error_description", "more than one credential in the request")
	case errors.As(err, &refused):
		if refused.Scheme == scheme {
			c.param("error", refused.Code)
			c.param("error_description", refused.Reason)
		}
	case scope != "":
		c.param("error", "insufficient_scope")
	}
}
