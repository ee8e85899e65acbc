package authn

import "net/http"

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
