package clientcert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Name is the name of the scheme in the configuration, and the issuer of its
// principals. No OIDC issuer can be configured by it, since that is always an address.
const Name = "mtls"

// Method is how a principal of a certificate was proved, in Principal.Method.
const Method = "mtls"

// Options are what certificates need besides their configuration, as in Options.
type Options struct {
	Trusted func(*tls.ConnectionState) error
	Observe func(provider, result string)
	Now     func() time.Time
}

// Scheme takes the client certificate of a connection as an identity. Headers in
// which something in front may tell of one (Client-Cert, X-Forwarded-Client-Cert) say
// nothing here: anybody can write them.
type Scheme struct {
	cfg     Config
	trusted func(*tls.ConnectionState) error
	now     func() time.Time
	observe func(provider, result string)
}

// New makes the scheme of the configuration.
func New(cfg *Config, o Options) *Scheme {
	c := &Scheme{cfg: *cfg, trusted: o.Trusted, now: o.Now, observe: o.Observe}
	if c.observe == nil {
		c.observe = func(string, string) {}
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.trusted == nil {
		c.trusted = func(*tls.ConnectionState) error { return nil }
	}
	return c
}

// shown is the certificate that a principal rests on.
type shown struct {
	state  *tls.ConnectionState // no more of it than its certificates
	agents []string             // that its identity was bound to
}

// Name implements Scheme.
func (c *Scheme) Name() string { return Name }

// Carriers implements Scheme.
func (c *Scheme) Carriers() []authn.Carrier { return []authn.Carrier{c} }

// Header implements Carrier: the connection has the certificate.
func (c *Scheme) Header() string { return "" }

// Unread implements Connection.
func (c *Scheme) Unread(r *http.Request) *authn.Principal {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil
	}
	return &authn.Principal{Issuer: Name}
}

// Only implements Scheme: a connection has one certificate.
func (c *Scheme) Only(r *http.Request) (*authn.Principal, error) { return c.Authenticate(r) }

// Owns implements Scheme.
func (c *Scheme) Owns(p *authn.Principal) bool { return p.Issuer == Name }

// Recall implements Scheme. Certificates end while what their owners asked for goes on.
func (c *Scheme) Recall(p *authn.Principal) (*authn.Principal, error) {
	if !c.Owns(p) {
		return nil, authn.ErrNoCredentials
	}
	return p, nil
}

// Bearer implements Scheme.
func (c *Scheme) Bearer() bool { return false }

// Challenges implements Scheme: a handshake asks for certificates, no header does.
func (c *Scheme) Challenges(*authn.Demand) []string { return nil }

// Challenger implements Scheme.
func (c *Scheme) Challenger(string) (scheme, header string, ok bool) { return "", "", false }

// Ways implements Scheme.
func (c *Scheme) Ways() []string { return nil }

// Authenticate implements Carrier. A request whose connection shows no certificate has
// no credential.
func (c *Scheme) Authenticate(r *http.Request) (*authn.Principal, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, authn.ErrNoCredentials
	}
	p, rests, err := c.judge(r.TLS)
	c.observe(Name, authn.Outcome(err))
	if err != nil {
		return nil, err
	}
	p.KeyID = Thumbprint(r)
	p.Attest(rests)
	return p, nil
}

// judge says whose certificate it is. That the handshake verified it is the least; the
// CAs may have changed since, and time has passed.
func (c *Scheme) judge(state *tls.ConnectionState) (*authn.Principal, *shown, error) {
	leaf := state.PeerCertificates[0]
	if len(state.VerifiedChains) == 0 {
		return nil, nil, refuseCertificate(faultUntrusted, errors.New("not verified in the handshake"))
	}
	if now := c.now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, nil, refuseCertificate(faultOutdated, fmt.Errorf("valid from %s to %s",
			leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339)))
	}
	if err := c.trusted(state); err != nil {
		return nil, nil, refuseCertificate(faultUntrusted, err)
	}
	if err := checkUse(leaf); err != nil {
		return nil, nil, refuseCertificate(faultCertificate, err)
	}
	name, err := c.cfg.subject(leaf)
	if err != nil {
		return nil, nil, refuseCertificate(faultName, err)
	}
	id, known := c.cfg.identity(name)
	if !known {
		return nil, nil, refuseCertificate(faultNobody, fmt.Errorf("%.200q is none of authn.mtls.identities", name))
	}
	if id.Subject != "" {
		name = id.Subject
	}
	return &authn.Principal{
			Subject: name, Issuer: Name, Method: Method, Proof: "mtls", Expires: leaf.NotAfter,
			Groups: id.Groups, Scopes: id.Scopes, Tenant: id.Tenant, Agents: id.Agents,
		}, &shown{agents: id.Agents, state: &tls.ConnectionState{
			Version: state.Version, HandshakeComplete: true,
			PeerCertificates: state.PeerCertificates, VerifiedChains: state.VerifiedChains,
		}}, nil
}

// checkUse wants a certificate that was made for clients. Without an extended key usage,
// or with "any", x509 lets it pass; so it would those of servers and of machines that
// sign mail.
func checkUse(leaf *x509.Certificate) error {
	switch {
	case !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth):
		return errors.New("its extended key usage does not name clientAuth")
	case leaf.KeyUsage != 0 && leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0:
		return errors.New("its key usage leaves out digitalSignature")
	case leaf.IsCA:
		return errors.New("it is that of a CA")
	}
	return nil
}

// Stands reports whether the certificate that p rests on would still make the same
// principal.
func (c *Scheme) Stands(p *authn.Principal) error {
	was, ok := p.Evidence().(*shown)
	if !ok {
		return refuseCertificate(faultUntrusted, errors.New("nothing is known of the certificate"))
	}
	again, _, err := c.judge(was.state)
	if err != nil {
		return err
	}
	sameAgents := slices.Equal(again.Agents, was.agents) && (again.Agents == nil) == (was.agents == nil)
	if !again.Alike(p) || !sameAgents {
		return refuseCertificate(faultNobody, errors.New("the same certificate makes another principal now"))
	}
	return nil
}

// Faults of certificates. Like the others they are metric labels and sentences.
const (
	faultCertificate authn.Fault = "certificate-use"
	faultUntrusted   authn.Fault = "certificate-untrusted"
	faultOutdated    authn.Fault = "certificate-outdated"
	faultName        authn.Fault = "certificate-name"
	faultNobody      authn.Fault = "certificate-unknown"
)

// certificateReason is the sentence for a fault of certificates.
func certificateReason(f authn.Fault) string {
	switch f {
	case faultUntrusted:
		return "the client certificate is not from a trusted authority"
	case faultOutdated:
		return "the client certificate has expired or is not valid yet"
	case faultName:
		return "the client certificate has no single name that is accepted here"
	case faultNobody:
		return "the client certificate is of nobody who is known here"
	default:
		return "the client certificate is not made for clients"
	}
}

// refuseCertificate makes the refusal of a certificate. No challenge is about
// certificates, so none carries the error.
func refuseCertificate(f authn.Fault, err error) *authn.Refused {
	refused := authn.Refuse(f, certificateReason(f), err)
	refused.Scheme = ""
	return refused
}
