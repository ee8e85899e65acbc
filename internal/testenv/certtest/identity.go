// Package certtest makes certificates for tests: a CA that nobody else knows, and what it or nobody
// signs. It is for tests alone, and imports nothing of ours.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"testing"
	"time"
)

// Identity is a certificate, of a CA or of somebody, and its key.
type Identity struct {
	Cert *x509.Certificate
	Key  *ecdsa.PrivateKey
}

// Authority is a CA, which signs itself.
func Authority(t testing.TB, name string) *Identity {
	t.Helper()
	return Issue(t, x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
}

// Issue makes a certificate with a key and a serial number of its own, signed by a CA, or by itself where
// by is nil. It is good from an hour ago for two hours, unless the template says until when.
func Issue(t testing.TB, template x509.Certificate, by *Identity) *Identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100)); err != nil {
		t.Fatal(err)
	}
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	if by == nil {
		by = &Identity{Cert: &template, Key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, by.Cert, &key.PublicKey, by.Key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Identity{Cert: cert, Key: key}
}

// TLS is what one side of a connection shows.
func (i *Identity) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.Cert.Raw}, PrivateKey: i.Key, Leaf: i.Cert}
}

// Pool trusts the certificate, and those that it signs as a CA.
func (i *Identity) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.Cert)
	return pool
}

// PEM is the certificate as a file holds it.
func (i *Identity) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Cert.Raw})
}

// Write puts the certificate and the key into files.
func (i *Identity) Write(t testing.TB, cert, key string) {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(i.Key)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{
		cert: i.PEM(), key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
