package upstream

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookAgain is how often handshakes may look whether the files have changed.
const lookAgain = time.Second

// material is the TLS configuration toward one agent, made of files that may change.
// Their contents are compared rather than their times, which a mounted secret that is
// swapped by a link may share with the one before.
//
// Handshakes ask for the configuration, and at most once a second the files are read again, so
// that a certificate which is renewed on disk is used without a reload.
type material struct {
	files TLS
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	looked  time.Time
	digest  [sha256.Size]byte // of the contents that were read last, good or bad
	verdict error             // on them
	failed  string            // what was last logged; "" when the last look was good
	config  *tls.Config       // of the last good ones
}

// newMaterial reads the files for the first time.
func newMaterial(files TLS, log *slog.Logger) (*material, error) {
	m := &material{files: files, log: log, now: time.Now}
	m.looked = m.now()
	if err := m.read(); err != nil {
		return nil, err
	}
	return m, nil
}

// current is the configuration for a handshake. It must not be changed.
func (m *material) current() *tls.Config {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.now(); now.Sub(m.looked) >= lookAgain {
		m.looked = now
		m.again()
	}
	return m.config
}

// again reads the files anew. Half of a new pair, as between two writes, is bad like any
// other mistake: what was good stays, and the next look finds both.
func (m *material) again() {
	failed := ""
	if err := m.read(); err != nil {
		failed = err.Error()
	}
	if failed != "" && failed != m.failed && m.log != nil {
		m.log.Warn("agents[].tls: the changed files are no good, the last good ones stay in use", "error", failed)
	}
	m.failed = failed
}

// read makes the configuration of what the files hold now, if that is something new.
func (m *material) read() error {
	var pem [3][]byte
	for i, f := range []struct{ key, path string }{
		{"tls.ca", m.files.CA}, {"tls.certificate", m.files.Certificate}, {"tls.key", m.files.Key},
	} {
		if f.path == "" {
			continue
		}
		var err error
		if pem[i], err = os.ReadFile(f.path); err != nil {
			return fmt.Errorf("read %s: %w", f.key, err)
		}
	}
	digest := sha256.New()
	for _, p := range pem {
		_, _ = fmt.Fprintf(digest, "%d:", len(p))
		_, _ = digest.Write(p)
	}
	sum := [sha256.Size]byte(digest.Sum(nil))
	if m.config != nil && sum == m.digest {
		return m.verdict
	}
	config, err := m.files.client(pem[0], pem[1], pem[2])
	if m.digest, m.verdict = sum, err; err == nil {
		m.config = config
	}
	return err
}

// client builds the TLS configuration toward the agent of the files' contents.
func (t TLS) client(ca, certificate, key []byte) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(bytes.TrimSpace(ca)) {
			// An empty pool would refuse every agent one call at a time.
			return nil, fmt.Errorf("read tls.ca: %s holds no certificate", t.CA)
		}
	}
	if t.Certificate != "" {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("read tls.certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
