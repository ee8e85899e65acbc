package authn

import (
	"context"
	"errors"
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

// prover judges proofs of possession (RFC 9449 §4.3).
type prover struct{}

// newProver shares what the prover of the chain before a reload remembers; previous
// may be nil.
func newProver(_ DPoP, _ *Options, _ *prover) *prover { return new(prover) }

// check demands one good proof for this very request and token, by the key whose
// thumbprint is jkt.
func (g *prover) check(*http.Request, string, string) error {
	return refuse(faultBound, errors.New("claim cnf.jkt"))
}

// nonce is the DPoP-Nonce to answer with, "" where none is asked for.
func (g *prover) nonce() string { return "" }

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

// certificateThumbprint is x5t#S256 of the connection's client certificate (RFC 8705
// §3.1), "" without one. Whoever signed it does not matter.
func certificateThumbprint(*http.Request) string { return "" }
