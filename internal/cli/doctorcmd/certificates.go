package doctorcmd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// expiresSoon is when somebody should ask who renews a certificate: those of public CAs are renewed
// a month before their end.
const expiresSoon = 14 * 24 * time.Hour

// certificates looks at those of files: their dates, their chains, and whether the names that
// clients use are in one of them. Those from a CA by ACME lie in the state, and the gateway renews
// them.
func (d *doctor) certificates(cfg *config.Config) {
	if t := cfg.Server.TLS; t != nil && len(t.Certificates) > 0 {
		leaves := d.each(t.Certificates)
		if t.ACME == nil && len(leaves) == len(t.Certificates) {
			d.names(cfg, leaves)
		}
	}
	if t := cfg.Admin.TLS; t != nil {
		d.each(t.Certificates)
	}
	for i := range cfg.Agents {
		if t := cfg.Agents[i].TLS; t.Certificate != "" {
			d.each([]server.Certificate{{Cert: t.Certificate, Key: t.Key}})
		}
	}
}

// each looks at certificates, and returns those that can be read.
func (d *doctor) each(list []server.Certificate) (leaves []*x509.Certificate) {
	for _, files := range list {
		about := "certificate " + files.Cert
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			d.fail(about, "cannot be used with the key %s: %v", files.Key, err)
			continue
		}
		leaf := pair.Leaf
		if leaf == nil {
			d.fail(about, "holds no certificate that can be read")
			continue
		}
		leaves = append(leaves, leaf)
		now := time.Now()
		left := leaf.NotAfter.Sub(now)
		days := int(left.Hours() / 24)
		switch {
		case left < 0:
			d.fail(about, "expired on %s: renew it; the gateway takes a new file over by itself", leaf.NotAfter.Format(time.DateOnly))
		case now.Before(leaf.NotBefore):
			d.fail(about, "is not valid before %s: is this machine's clock right?", leaf.NotBefore.Format(time.RFC3339))
		case left < expiresSoon:
			d.warn(about, "expires in %d days, on %s: who renews it?", days, leaf.NotAfter.Format(time.DateOnly))
		default:
			d.ok(about, "is valid until %s, for %s", leaf.NotAfter.Format(time.DateOnly), namesOf(leaf))
		}
		d.chain(about, &pair)
	}
	return leaves
}

// chain looks whether clients can get from a certificate to a root. A certificate that this
// machine has no root for may be a private CA's, whose clients have it; one whose intermediate is
// missing is accepted by browsers, which guess it, and by no program.
func (d *doctor) chain(about string, pair *tls.Certificate) {
	leaf, between := pair.Leaf, x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			d.fail(about, "a certificate behind the first cannot be read: %v", err)
			return
		}
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	var unknown x509.UnknownAuthorityError
	switch {
	case !errors.As(err, &unknown):
	case leaf.CheckSignatureFrom(leaf) == nil:
		d.warn(about, "is signed by itself: clients have to be given it as their CA")
	case len(pair.Certificate) == 1 && len(leaf.IssuingCertificateURL) > 0:
		d.warn(about, "stands alone, and its CA %q is no root of this machine: put the intermediate certificates behind it into the file", leaf.Issuer.CommonName)
	default:
		d.ok(about, "comes from %q, which this machine does not trust by itself: clients need that CA", leaf.Issuer.CommonName)
	}
}

// names looks for a certificate for each name that clients reach the gateway by.
func (d *doctor) names(cfg *config.Config, leaves []*x509.Certificate) {
	type use struct{ host, key string }
	var uses []use
	if u, err := url.Parse(cfg.Server.PublicURL); err == nil {
		uses = append(uses, use{u.Hostname(), "server.publicURL"})
	}
	for i := range cfg.Agents {
		for _, host := range cfg.Agents[i].Hosts {
			if name, _, err := net.SplitHostPort(host); err == nil {
				host = name
			}
			uses = append(uses, use{host, "agents[].hosts of " + cfg.Agents[i].ID})
		}
	}
	for _, u := range uses {
		if !covered(u.host, leaves) {
			d.fail("server.tls", "no certificate is for %s (%s): clients will refuse it; add one to server.tls.certificates", u.host, u.key)
		}
	}
}

// covered reports whether one of the certificates is for a host.
func covered(host string, leaves []*x509.Certificate) bool {
	for _, c := range leaves {
		if c.VerifyHostname(host) == nil {
			return true
		}
	}
	return false
}

// namesOf are the names in a certificate, for people.
func namesOf(c *x509.Certificate) string {
	text := ""
	add := func(name string) {
		if text != "" {
			text += ", "
		}
		text += name
	}
	for _, name := range c.DNSNames {
		add(name)
	}
	for _, ip := range c.IPAddresses {
		add(ip.String())
	}
	for _, u := range c.URIs {
		add(u.String())
	}
	if text == "" {
		return "no name, by which no client accepts it as a server's"
	}
	return text
}
