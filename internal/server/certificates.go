package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// certificates are what a TLS listener shows its clients, and what it verifies theirs by: the
// files of the configuration, which are watched, those that a CA gives (Provide), and the
// CAs of clients. What handshakes use is one generation, which is replaced as a whole: no
// handshake sees the certificate of one file and the CAs of another time. Which certificate answers
// which SNI says generation.
//
// The zero value is without TLS.
type certificates struct {
	log    *slog.Logger
	tls    atomic.Pointer[generation] // nil without TLS
	acme   atomic.Pointer[ACME]       // nil for none
	answer atomic.Pointer[Answer]     // to CAs that check a name

	mu        sync.Mutex // guards what follows
	cfg       *TLS
	provided  []tls.Certificate // beside those of files
	lastError string            // of the files, to log each failure once
	watching  *watch            // nil while nobody watches
}

// openCertificates reads the files for the first time.
func (c *certificates) openCertificates(cfg *TLS, log *slog.Logger) error {
	g, err := c.generation(*cfg, nil)
	if err != nil {
		return err
	}
	c.log, c.cfg = log, cfg
	c.acme.Store(cfg.ACME)
	c.tls.Store(g)
	return nil
}

// reloadCertificates reads the files of another configuration. With an error nothing has changed.
func (c *certificates) reloadCertificates(cfg *TLS) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.generation(*cfg, c.provided)
	if err != nil {
		return err
	}
	c.cfg = cfg
	c.acme.Store(cfg.ACME)
	c.install(g)
	c.watching.follow(*cfg)
	return nil
}

// watchCertificates has the files looked after from now on.
func (c *certificates) watchCertificates() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg == nil {
		return
	}
	c.watching = startWatch(c.refresh, c.log)
	c.watching.follow(*c.cfg)
}

// unwatchCertificates ends that. It waits for a refresh that is under way, and so must not hold mu.
func (c *certificates) unwatchCertificates() {
	c.mu.Lock()
	watching := c.watching
	c.watching = nil
	c.mu.Unlock()
	watching.stop()
}

// install makes g the one that new handshakes use, unless it is the same.
func (c *certificates) install(g *generation) {
	c.lastError = ""
	if old := c.tls.Load(); old != nil && old.digest == g.digest {
		return
	}
	c.tls.Store(g)
	c.log.Info("certificates loaded", "names", g.names(), "notAfter", g.notAfter(), "clientCAs", len(g.clientCA))
	g.warn(c.log, time.Now())
}

// refresh is called when certificate files may have changed. Bad files keep the
// old certificates, and are logged once for each different thing wrong: between
// two writes of a renewal, key and certificate do not match for a moment.
func (c *certificates) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.generation(*c.cfg, c.provided)
	if err == nil {
		c.install(g)
		c.watching.follow(*c.cfg) // links may lead elsewhere now
		return
	}
	if text := err.Error(); text != c.lastError {
		c.lastError = text
		c.log.Error("new certificates are not usable, the old ones stay", "err", err)
	}
}

// Answer sets whom the handshakes of CAs' checks are given to; before, and for names that
// are not configured, there is no answer. Such a handshake ends in nothing else: no
// request is served on its connection.
func (c *certificates) Answer(f Answer) { c.answer.Store(&f) }

// examined is the configuration of a CA's handshake, nil for that of everybody else. The
// CA has no certificate of its own, whatever clients need.
func (c *certificates) examined(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if !slices.Equal(hello.SupportedProtos, []string{alpnACME}) {
		return nil, nil //nolint:nilnil // what crypto/tls wants to hear
	}
	answer, acme := c.answer.Load(), c.acme.Load()
	if answer == nil || !acme.Answers(ChallengeALPN) || !acme.Has(hello.ServerName) {
		return nil, fmt.Errorf("nobody asks for a certificate of %.100q", hello.ServerName)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{alpnACME},
		GetCertificate: *answer, SessionTicketsDisabled: true,
	}, nil
}

// Provide adds certificates to those of the files, in the place of others that were added
// before. New handshakes use them; connections that are open stay.
func (c *certificates) Provide(certs []tls.Certificate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg == nil {
		return errors.New("provide certificates: there is no server.tls section")
	}
	g, err := c.generation(*c.cfg, certs)
	if err != nil {
		return err
	}
	c.provided = certs
	c.install(g)
	return nil
}

// Certified reports whether there is a certificate to serve, as there always is without
// server.tls.acme. Without TLS none is needed.
func (c *certificates) Certified() bool {
	g := c.tls.Load()
	return g == nil || len(g.config.Certificates) > 0
}

// Expiry is when the first of the certificates that are served ends; zero without TLS.
func (c *certificates) Expiry() time.Time {
	g := c.tls.Load()
	if g == nil {
		return time.Time{}
	}
	return g.notAfter()
}

// Leaves are the certificates that are served; none without TLS.
func (c *certificates) Leaves() []*x509.Certificate {
	g := c.tls.Load()
	if g == nil {
		return nil
	}
	var leaves []*x509.Certificate
	for _, pair := range g.config.Certificates {
		leaves = append(leaves, pair.Leaf)
	}
	return leaves
}

// Authorities are the CAs that client certificates are verified by (server.tls.clientCA).
func (c *certificates) Authorities() []*x509.Certificate {
	g := c.tls.Load()
	if g == nil {
		return nil
	}
	return slices.Clone(g.clientCA)
}
