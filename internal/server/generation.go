package server

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// maxPEM bounds a certificate or key file; a long chain has 20 KiB.
const maxPEM = 1 << 20

// generation is one set of certificates and the TLS configuration built on it.
// Each has its own session ticket keys, made and rotated by crypto/tls, so a
// session resumes only under the configuration that it began with (L24).
// A generation does not change.
type generation struct {
	config   *tls.Config
	clientCA []*x509.Certificate // what config.ClientCAs holds
	verdicts verdicts            // on client certificates, by clientCA
	digest   [sha256.Size]byte   // of all file contents and settings
}

// forwardSecret are TLS 1.2's suites with ECDHE and AEAD, which is what HTTP/2
// asks for too (RFC 9113 §9.2.2). TLS 1.3 has its own and cannot be told.
func forwardSecret() []uint16 {
	return []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
}

// generation reads the files and adds what is provided beside them. Among its
// certificates crypto/tls chooses the first that fits the client's server name (SNI) and
// algorithms, and else the first.
func (c *certificates) generation(t TLS, provided []tls.Certificate) (*generation, error) {
	g := &generation{config: &tls.Config{
		MinVersion:   tls.VersionTLS13,
		CipherSuites: forwardSecret(),
		NextProtos:   []string{"h2", "http/1.1"},

		GetConfigForClient: c.examined,
	}}
	if t.MinVersion == "1.2" {
		g.config.MinVersion = tls.VersionTLS12
	}
	digest := sha256.New()
	_, _ = fmt.Fprintf(digest, "%d\n", g.config.MinVersion)
	for i, files := range t.Certificates {
		pair, err := loadPair(files, digest)
		if err == nil {
			err = t.ACME.claims(pair)
		}
		if err != nil {
			return nil, keypath.At(err, "server", "tls", "certificates", i)
		}
		g.config.Certificates = append(g.config.Certificates, pair)
	}
	for _, pair := range provided {
		for _, content := range pair.Certificate {
			record(digest, content)
		}
	}
	g.config.Certificates = append(g.config.Certificates, provided...)
	if err := g.trust(t, digest); err != nil {
		return nil, err
	}
	digest.Sum(g.digest[:0])
	return g, nil
}

// CheckFiles reports the first file of tls that New would refuse, beside that of acme.
func (c Config) CheckFiles() error {
	if c.TLS == nil {
		return nil
	}
	_, err := new(certificates).generation(*c.TLS, nil)
	return err
}

func loadPair(files Certificate, digest io.Writer) (tls.Certificate, error) {
	cert, err := readPEM(files.Cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readPEM(files.Key)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read %s with key %s: %w", files.Cert, files.Key, err)
	}
	for _, content := range [][]byte{cert, key} {
		record(digest, content)
	}
	return pair, nil
}

// record adds a file's content to the digest, in such a way that no content can
// pass for two.
func record(digest io.Writer, content []byte) {
	_, _ = fmt.Fprintf(digest, "%d\n%s", len(content), content)
}

func readPEM(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, err // names the path
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(content) > maxPEM:
		return nil, fmt.Errorf("read %s: larger than 1 MiB", path)
	case len(content) == 0:
		return nil, fmt.Errorf("read %s: the file is empty", path)
	}
	return content, nil
}

// names are the first names of the certificates, for the log.
func (g *generation) names() []string {
	var names []string
	for _, pair := range g.config.Certificates {
		names = append(names, firstName(pair.Leaf))
	}
	return names
}

func firstName(leaf *x509.Certificate) string {
	if len(leaf.DNSNames) > 0 {
		return leaf.DNSNames[0]
	}
	if len(leaf.IPAddresses) > 0 {
		return leaf.IPAddresses[0].String()
	}
	return leaf.Subject.CommonName
}

// notAfter is when the first of the certificates expires.
func (g *generation) notAfter() time.Time {
	var first time.Time
	for _, pair := range g.config.Certificates {
		if t := pair.Leaf.NotAfter; first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// warn logs certificates that clients will not accept. They are used all the
// same: the clock may be the wrong one, and the old ones are no better.
func (g *generation) warn(log *slog.Logger, now time.Time) {
	invalid := func(what string, c *x509.Certificate) {
		if now.Before(c.NotBefore) || now.After(c.NotAfter) {
			log.Warn(what+" is not valid now", "name", firstName(c), "notBefore", c.NotBefore, "notAfter", c.NotAfter)
		}
	}
	for _, pair := range g.config.Certificates {
		invalid("certificate", pair.Leaf)
	}
	for _, ca := range g.clientCA {
		invalid("CA of client certificates", ca)
	}
}
