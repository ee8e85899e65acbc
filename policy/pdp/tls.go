package pdp

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// load reads the files. Errors begin with the key below the authorizer.
func (t TLS) load() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, keypath.At(err, "tls", "ca")
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(bytes.TrimSpace(pem)) {
			// An empty pool would refuse the authorizer one call at a time.
			return nil, keypath.At(fmt.Errorf("%s holds no certificate", t.CA), "tls", "ca")
		}
	}
	// Validate has seen to it that there is a key beside it.
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, keypath.At(err, "tls", "certificate")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
