package authn

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// opaque reports whether a token cannot be read here, so that its issuer has to be
// asked. An API key that strayed into the header is not for the issuer to see.
func opaque(raw string) bool {
	return strings.Count(raw, ".") != 2 && !strings.HasPrefix(raw, keyPrefix)
}

// introspect asks the issuer who presents an opaque token, and what it is bound to.
func (is *issuer) introspect(context.Context, string, time.Time) (*Principal, confirmation, error) {
	return nil, confirmation{}, fmt.Errorf("%w: introspection", ErrUnavailable)
}

// active asks the issuer about a token that was verified here: nil while it is good.
func (is *issuer) active(context.Context, string, *Principal, time.Time) error {
	return fmt.Errorf("%w: introspection", ErrUnavailable)
}

// stands reports whether the issuer has said, lately, that the token of p is no longer
// good.
func (is *issuer) stands(*Principal, time.Time) error { return nil }

// certificates takes the client certificate of a connection as an identity.
type certificates struct{}

func newCertificates(*MTLS, *Options) *certificates { return new(certificates) }

// authenticate implements scheme. A request whose connection shows no certificate has
// no credential.
func (c *certificates) authenticate(*http.Request) (*Principal, error) {
	return nil, ErrNoCredentials
}

// stands reports whether the certificate that p rests on is still good.
func (c *certificates) stands(*Principal) error { return nil }
