//go:build !minimal

package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// CheckFiles reports every file that New would refuse. It is apart from Check, which must say the same
// on a machine that has the configuration and not the secrets.
func (c Config) CheckFiles() error {
	_, err := c.TLS.config()
	return err
}

// config reads the files once, to refuse what is wrong with them, and the certificate
// again for each connection, as it is renewed from time to time. CAs are read once, as they change
// seldom.
func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("otlp.tls.ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("otlp.tls.ca: %s has no certificate in PEM form", t.CA)
		}
	}
	if t.Certificate != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
			return &pair, err
		}
		if _, err := load(); err != nil {
			return nil, fmt.Errorf("otlp.tls.certificate: %w", err)
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return c, nil
}
