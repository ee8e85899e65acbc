package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Certified is TLS on a listener beside the public one: the same versions and suites, with
// files that are watched in the same way.
type Certified struct{ certificates certificates }

// Certify reads the files of t, which has no ACME. Errors begin with the key below tls.
func Certify(t TLS, log *slog.Logger) (*Certified, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	c := new(Certified)
	if err := c.certificates.openCertificates(&t, log); err != nil {
		return nil, keypath.Trim(err, "server")
	}
	c.certificates.watchCertificates()
	return c, nil
}

// Check reports what cannot work of a section that is not server.tls.
func (t *TLS) Check() error {
	if t.ACME != nil {
		return keypath.At(errors.New("is for server.tls alone"), "tls", "acme")
	}
	return keypath.Trim((&Config{TLS: t}).validateTLS(), "server")
}

// CheckFiles reports the first file of such a section that Certify would refuse.
func (t *TLS) CheckFiles() error { return keypath.Trim(Config{TLS: t}.CheckFiles(), "server") }

// Listen has the connections that l accepts speak TLS, and HTTP/1.1 in it.
func (c *Certified) Listen(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, // the generation says which
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			now := c.certificates.tls.Load().config.Clone()
			now.NextProtos, now.GetConfigForClient = []string{"http/1.1"}, nil
			return now, nil
		},
	})
}

// Leaves are the certificates that are served now. Nil has none.
func (c *Certified) Leaves() []*x509.Certificate {
	if c == nil {
		return nil
	}
	return c.certificates.Leaves()
}

// Close ends the watch on the files. Closing nil is fine.
func (c *Certified) Close() {
	if c != nil {
		c.certificates.unwatchCertificates()
	}
}
