package server

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	errNoCertificate = errors.New("the connection has no client certificate")
	errNoClientCA    = errors.New("no CA of client certificates is configured")
)

// Trusted judges the client certificate of a connection by the CAs in force now, which
// may be others than at its handshake: nil when they vouch for it. Verdicts are
// remembered, so that asking per request is cheap. The error is for logs.
func (c *certificates) Trusted(state *tls.ConnectionState) error {
	if state == nil || len(state.PeerCertificates) == 0 {
		return errNoCertificate
	}
	g := c.tls.Load()
	if g == nil || g.config.ClientCAs == nil { // without a pool, x509 would ask the system's
		return errNoClientCA
	}
	return g.verdicts.on(state.PeerCertificates, g.config.ClientCAs, time.Now())
}

// admits tells whether a connection could be opened as it is now, which matters
// where every client must have a certificate: connections outlive the CA they were
// let in by, and the setting itself.
func (c *certificates) admits(state *tls.ConnectionState) bool {
	g := c.tls.Load()
	return g == nil || g.config.ClientAuth != tls.RequireAndVerifyClientCert || c.Trusted(state) == nil
}

const (
	// verdictLife bounds how long a verdict stands in for a look at the clock.
	verdictLife = time.Minute
	// mostVerdicts is how many certificates are remembered, twice over.
	mostVerdicts = 4096
)

// verdicts remembers which certificates a generation's CAs vouch for. Verifying one
// takes some hundred microseconds, finding it here one or two. The zero value is
// ready.
type verdicts struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]verdict // old is dropped when young is full
}

type verdict struct {
	err         error
	from, until time.Time
}

// on judges the chain that a client sent, its own certificate first.
func (v *verdicts) on(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) error {
	key := fingerprint(chain)
	if known, ok := v.find(key); ok && !now.Before(known.from) && now.Before(known.until) {
		return known.err
	}
	found := verify(chain, roots, now)
	v.keep(key, found)
	return found.err
}

// fingerprint tells chains apart and not leaves only: the same certificate can come
// with the intermediates that lead to a CA, or without.
func fingerprint(chain []*x509.Certificate) (sum [sha256.Size]byte) {
	if len(chain) == 1 {
		return sha256.Sum256(chain[0].Raw)
	}
	h := sha256.New()
	for _, cert := range chain { // DER says its own length
		_, _ = h.Write(cert.Raw)
	}
	h.Sum(sum[:0])
	return sum
}

func (v *verdicts) find(key [sha256.Size]byte) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known, ok := v.young[key]
	if !ok {
		known, ok = v.old[key]
	}
	return known, ok
}

func (v *verdicts) keep(key [sha256.Size]byte, found verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.young == nil || len(v.young) >= mostVerdicts {
		v.young, v.old = make(map[[sha256.Size]byte]verdict), v.young
	}
	v.young[key] = found
}

// verify does what crypto/tls did at the handshake.
func verify(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) verdict {
	options := x509.VerifyOptions{
		Roots:         roots,
		Intermediates: x509.NewCertPool(),
		CurrentTime:   now,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, cert := range chain[1:] {
		options.Intermediates.AddCert(cert)
	}
	found := verdict{from: now, until: now.Add(verdictLife)}
	paths, err := chain[0].Verify(options)
	if err != nil {
		found.err = fmt.Errorf("verify client certificate: %w", err)
		return found
	}
	if end := lastsUntil(paths); end.Before(found.until) {
		found.until = end
	}
	return found
}

// lastsUntil is when the last of the paths ends, each at its first expiry.
func lastsUntil(paths [][]*x509.Certificate) time.Time {
	var last time.Time
	for _, path := range paths {
		end := path[0].NotAfter
		for _, cert := range path[1:] {
			if cert.NotAfter.Before(end) {
				end = cert.NotAfter
			}
		}
		if end.After(last) {
			last = end
		}
	}
	return last
}
