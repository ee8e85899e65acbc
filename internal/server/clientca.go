package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Values of server.tls.clientAuth.
const (
	authOff      = "off"
	authRequest  = "request"
	authOptional = "optional"
	authRequire  = "require"
)

// clientAuth is what crypto/tls calls the values. tls.RequireAnyClientCert is not
// among them: a certificate that nobody verifies is nothing to insist on.
func clientAuth(value string) (tls.ClientAuthType, bool) {
	switch value {
	case authOff, "":
		return tls.NoClientCert, true
	case authRequest:
		return tls.RequestClientCert, true
	case authOptional:
		return tls.VerifyClientCertIfGiven, true
	case authRequire:
		return tls.RequireAndVerifyClientCert, true
	}
	return 0, false
}

// validateClients holds clientAuth and clientCA together: to verify without a CA
// would mean the system's CAs, and CAs that nothing is verified by are a mistake.
func (t *TLS) validateClients() error {
	auth, ok := clientAuth(t.ClientAuth)
	if !ok {
		return keypath.At(fmt.Errorf(`is %q, want "off", "request", "optional" or "require"`, t.ClientAuth), "server", "tls", "clientAuth")
	}
	var all []error
	for i, path := range t.ClientCA {
		if path == "" {
			all = append(all, keypath.At(errors.New("is empty, write the path of a PEM file"), "server", "tls", "clientCA", i))
		}
	}
	switch verifies := auth >= tls.VerifyClientCertIfGiven; {
	case verifies && len(t.ClientCA) == 0:
		all = append(all, keypath.At(fmt.Errorf("is required with clientAuth: %s, write the files of the CAs", t.ClientAuth), "server", "tls", "clientCA"))
	case !verifies && len(t.ClientCA) > 0:
		all = append(all, keypath.At(errors.New(`must be "optional" or "require" with clientCA, nothing is verified otherwise`), "server", "tls", "clientAuth"))
	}
	return errors.Join(all...)
}

// trust reads the CAs of client certificates into g.
func (g *generation) trust(t TLS, digest io.Writer) error {
	g.config.ClientAuth, _ = clientAuth(t.ClientAuth) // Validate has seen it
	_, _ = fmt.Fprintf(digest, "clients %d\n", g.config.ClientAuth)
	for i, path := range t.ClientCA {
		content, err := readPEM(path)
		if err == nil {
			err = g.trustAll(path, content)
		}
		if err != nil {
			return keypath.At(err, "server", "tls", "clientCA", i)
		}
		record(digest, content)
	}
	return nil
}

// trustAll adds every certificate of a file, or none counts: a file that is cut
// off, or holds anything else, is not what its writer meant, and the pool of
// crypto/x509 would take what it understands and say nothing.
func (g *generation) trustAll(path string, content []byte) error {
	blocks := bytes.Count(content, []byte("-----BEGIN "))
	if blocks == 0 {
		return fmt.Errorf("read %s: it holds no certificate", path)
	}
	for ; blocks > 0; blocks-- {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return fmt.Errorf("read %s: it is not whole PEM", path)
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("read %s: it holds something else than certificates", path)
		}
		ca, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if !ca.BasicConstraintsValid || !ca.IsCA {
			return fmt.Errorf("read %s: %s is not a CA", path, firstName(ca))
		}
		if g.config.ClientCAs == nil {
			g.config.ClientCAs = x509.NewCertPool()
		}
		g.config.ClientCAs.AddCert(ca)
		g.clientCA = append(g.clientCA, ca)
	}
	return nil
}

// AsksClients reports whether clients can show a certificate.
func (t *TLS) AsksClients() bool { return t.ClientAuth != "" && t.ClientAuth != authOff }
