//go:build !minimal

package acme

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/caddyserver/certmagic"
	libacme "github.com/mholt/acmez/v3/acme"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// issuer is certmagic's, with an eye on its orders. It also keeps certmagic from asking a
// terminal for what the configuration does not say.
type issuer struct {
	*certmagic.ACMEIssuer
	ordered func(domain string, leaf *x509.Certificate, err error)
}

// PreCheck implements certmagic.PreChecker.
func (i issuer) PreCheck(ctx context.Context, names []string, _ bool) error {
	// false: nobody sits at a terminal to be asked for an address or for consent.
	return i.ACMEIssuer.PreCheck(ctx, names, false)
}

// Issue implements certmagic.Issuer.
func (i issuer) Issue(ctx context.Context, request *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	issued, err := i.ACMEIssuer.Issue(ctx, request)
	var leaf *x509.Certificate
	if err == nil {
		leaf, err = first(issued.Certificate)
	}
	// A request of certmagic's has one name, as each name has its own certificate.
	if len(request.DNSNames) > 0 { // there is one
		i.ordered(request.DNSNames[0], leaf, err)
	}
	return issued, err
}

// first is the first certificate of a chain.
func first(chain []byte) (*x509.Certificate, error) {
	// The leaf comes first (RFC 8555 §9.1).
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil, errors.New("read the CA's certificate: it is not PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}

// proxy is the way to the CA.
func (k *Keeper) proxy(r *http.Request) (*url.URL, error) {
	if k.o.Proxy == nil {
		return nil, nil //nolint:nilnil // as http.Transport has it
	}
	return k.o.Proxy(r)
}

// newMagic makes what obtains and renews, for one configuration. It keeps nothing running
// but a clock: the cache has to be there, and is empty but for moments.
func (k *Keeper) newMagic(cfg server.ACME, roots *x509.CertPool) (*certmagic.Config, *certmagic.ACMEIssuer, *certmagic.Cache) {
	log := newLog(k.o.Log)
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return nil, errNotHere },
		Logger:           log, RenewCheckInterval: soonest, OCSPCheckInterval: latest,
	})
	magic := certmagic.New(cache, certmagic.Config{
		Storage: k.storage, Logger: log, RenewalWindowRatio: cfg.RenewalWindow,
		KeySource:           certmagic.StandardKeyGenerator{KeyType: certmagic.KeyType(cfg.KeyType)},
		DisableStorageCheck: true, // the lock has just been written to it
		// Nobody is asked whose address stands in a certificate only. CAs that answer
		// about revoked ones tell of them in what is asked about renewal.
		OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	template := certmagic.ACMEIssuer{
		CA: cfg.Directory.Reveal(), TestCA: cfg.Directory.Reveal(), Email: cfg.Email, Agreed: cfg.AgreeTerms, Profile: cfg.Profile,
		TrustedRoots: roots, Logger: log, ListenHost: k.o.Host, AltTLSALPNPort: k.o.Port, AltHTTPPort: k.o.HTTPPort,
		HTTPProxy:               k.proxy, // it would ask the environment without
		DisableTLSALPNChallenge: !cfg.Answers(server.ChallengeALPN), DisableHTTPChallenge: !cfg.Answers(server.ChallengeHTTP),
	}
	if e := cfg.ExternalAccount; e != nil {
		template.ExternalAccount = &libacme.EAB{KeyID: e.KeyID, MACKey: e.MACKey.Reveal()}
	}
	inner := certmagic.NewACMEIssuer(magic, template)
	magic.Issuers = []certmagic.Issuer{issuer{inner, k.ordered}}
	return magic, inner, cache
}

// errNotHere keeps certmagic's own maintenance from what Keeper does.
var errNotHere = errors.New("certificates are kept elsewhere")

// CheckFiles reports a file that Open would refuse.
func CheckFiles(cfg server.ACME) error {
	_, _, err := readRoots(cfg.CA)
	return err
}

// readRoots reads the CA's own roots, nil for the system's.
func readRoots(path string) (*x509.CertPool, []byte, error) {
	if path == "" {
		return nil, nil, nil
	}
	content, err := os.ReadFile(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, nil, fmt.Errorf("server.tls.acme.ca: %w", err)
	}
	// Only these: a private CA is not to be reached by a certificate of a public one.
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, nil, fmt.Errorf("server.tls.acme.ca: read %s: it holds no certificate", path)
	}
	return pool, content, nil
}

// refused reports whether the CA has said no, rather than not having been reached, or
// having asked for the same once more: a CA takes few refusals an hour before it answers
// nothing at all.
func refused(err error) bool {
	var problem libacme.Problem
	// badNonce is not about the order: the CA wants the same request with a fresh nonce (RFC 8555 §6.5).
	return errors.As(err, &problem) && problem.Status < http.StatusInternalServerError &&
		problem.Type != libacme.ProblemTypeBadNonce
}
