package server

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// ACME is the server.tls.acme section: certificates that the gateway gets from a CA and
// renews by itself (RFC 8555). Package internal/server/acme does what it says.
type ACME struct {
	// The CA's directory, an https:// URL. Default: Let's Encrypt's, whose certificates
	// every client trusts.
	Directory secret.URL `yaml:"directory,omitempty"`

	// Email address where the CA may write about the account. Default: none.
	Email string `yaml:"email,omitempty"`

	// Must be true: the CA serves only those who have agreed to its terms of service, and only a
	// person can.
	AgreeTerms bool `yaml:"agreeTerms,omitempty"`

	// Names to get a certificate for, one each. The gateway never asks for a certificate for another
	// name, whatever names clients use. At least one, at most 100; no wildcards and no addresses.
	Domains []string `yaml:"domains,omitempty"`

	// How the CA may check that a name is this gateway's: tls-alpn-01, by a handshake on port 443
	// that reaches the public listener, and http-01, by a request on port 80 that reaches
	// httpListen. With both, the CA may use either. Default: [tls-alpn-01].
	Challenges []string `yaml:"challenges,omitempty" jsonschema:"enum=tls-alpn-01,enum=http-01"`

	// Address of a plaintext listener that answers http-01 and nothing else. Required with http-01,
	// and only then. Restart to change.
	HTTPListen string `yaml:"httpListen,omitempty"`

	// PEM file of the roots that verify the CA's own server, instead of the system's: for a private
	// CA. The gateway reads it with the configuration. Default: none.
	CA string `yaml:"ca,omitempty" file:"read"`

	// The account at the CA that certificates are for, if the CA requires one. Default: none.
	ExternalAccount *ExternalAccount `yaml:"externalAccount,omitempty"`

	// The kind of certificate, by the CA's name for it, such as Let's Encrypt's shortlived. Default:
	// the CA's choice.
	Profile string `yaml:"profile,omitempty"`

	// The share of its lifetime, at its end, in which the gateway renews a certificate, unless the
	// CA says when (RFC 9773): from 0.05 to 0.9. Default: 0.33.
	RenewalWindow float64 `yaml:"renewalWindow,omitempty"`

	// Type of the keys of new certificates, each with its own: p256, p384, rsa2048 or rsa4096.
	// Default: p256.
	KeyType string `yaml:"keyType,omitempty" jsonschema:"enum=p256,enum=p384,enum=rsa2048,enum=rsa4096"`
}

// ExternalAccount binds the account that the gateway makes to one that the CA already has (RFC
// 8555 §7.3.4).
type ExternalAccount struct {
	// The CA's name for the key.
	KeyID string `yaml:"keyID"`

	// The key, base64url as the CA gives it.
	MACKey secret.Value `yaml:"macKey"`
}

const (
	// LetsEncrypt is the directory where none is configured.
	LetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

	defaultWindow = 0.33
	minWindow     = 0.05
	maxWindow     = 0.9
	maxDomains    = 100 // of which each is a certificate, and an order
)

// Ways to show the CA that a name is the gateway's.
const (
	ChallengeALPN = "tls-alpn-01"
	ChallengeHTTP = "http-01"
)

func keyTypes() []string { return []string{"p256", "p384", "rsa2048", "rsa4096"} }

func (a *ACME) defaults() {
	fill(&a.Directory, LetsEncrypt)
	fill(&a.RenewalWindow, defaultWindow)
	fill(&a.KeyType, keyTypes()[0])
	if len(a.Challenges) == 0 {
		a.Challenges = []string{ChallengeALPN}
	}
}

// acme is the section, nil for none.
func (c *Config) acme() *ACME {
	if c.TLS == nil {
		return nil
	}
	return c.TLS.ACME
}

// Answers reports whether a way to show names is configured. a may be nil.
func (a *ACME) Answers(challenge string) bool {
	return a != nil && slices.Contains(a.Challenges, challenge)
}

// Has reports whether a certificate is wanted for a name.
func (a *ACME) Has(name string) bool {
	return slices.ContainsFunc(a.Domains, func(d string) bool { return strings.EqualFold(d, name) })
}

func (a *ACME) validate() error {
	if a == nil {
		return nil
	}
	var all []error
	wrong := func(err error, steps ...any) {
		all = append(all, keypath.At(keypath.At(err, steps...), "server", "tls", "acme"))
	}
	if u, err := a.Directory.Parse(); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		wrong(fmt.Errorf("%.100q is not an https:// URL", a.Directory.String()), "directory")
	}
	if a.Email != "" && (!strings.Contains(a.Email, "@") || strings.ContainsAny(a.Email, " ,:?<>")) {
		wrong(fmt.Errorf("%.100q is not an address; write it alone, without a name or mailto: in front", a.Email), "email")
	}
	if !a.AgreeTerms {
		wrong(fmt.Errorf("must be true, once you have read the terms of service of %.100s", a.Directory.String()), "agreeTerms")
	}
	if a.RenewalWindow < minWindow || a.RenewalWindow > maxWindow {
		wrong(fmt.Errorf("%v is not between %v and %v", a.RenewalWindow, minWindow, maxWindow), "renewalWindow")
	}
	if !slices.Contains(keyTypes(), a.KeyType) {
		wrong(fmt.Errorf("is %.40q, want %s", a.KeyType, strings.Join(keyTypes(), ", ")), "keyType")
	}
	if e := a.ExternalAccount; e != nil {
		if e.KeyID == "" || e.MACKey.IsZero() {
			wrong(errors.New("needs both keyID and macKey"), "externalAccount")
		} else if _, err := base64.RawURLEncoding.DecodeString(e.MACKey.Reveal()); err != nil {
			wrong(errors.New("is not base64url without padding, as CAs give it"), "externalAccount", "macKey")
		}
	}
	return errors.Join(append(all, a.validateDomains(), a.validateChallenges())...)
}

// validateDomains also refuses what no challenge here can show: a wildcard needs DNS, an
// address a CA that gives certificates for it.
func (a *ACME) validateDomains() error {
	if n := len(a.Domains); n == 0 || n > maxDomains {
		return keypath.At(fmt.Errorf("has %d names, want 1 to %d", n, maxDomains), "server", "tls", "acme", "domains")
	}
	var all []error
	for i, d := range a.Domains {
		key := keypath.Of("server", "tls", "acme", "domains", i)
		host, ok := hostname.Canonical(d)
		_, err := netip.ParseAddr(d)
		switch {
		case strings.Contains(d, "*"):
			all = append(all, keypath.At(fmt.Errorf("%.100q is a wildcard, which tls-alpn-01 and http-01 cannot show; list the names", d), key))
		case err == nil:
			all = append(all, keypath.At(fmt.Errorf("%.100q is an address, write a name", d), key))
		case !ok || host != d || strings.ContainsAny(d, ":[_"):
			all = append(all, keypath.At(fmt.Errorf("%.100q is not a name of a host in lower case, without a port", d), key))
		case slices.Contains(a.Domains[:i], d):
			all = append(all, keypath.At(fmt.Errorf("%q is there twice", d), key))
		}
	}
	return errors.Join(all...)
}

func (a *ACME) validateChallenges() error {
	var all []error
	for i, c := range a.Challenges {
		switch {
		case c != ChallengeALPN && c != ChallengeHTTP:
			all = append(all, keypath.At(fmt.Errorf("is %.40q, want %q or %q", c, ChallengeALPN, ChallengeHTTP), "server", "tls", "acme", "challenges", i))
		case slices.Contains(a.Challenges[:i], c):
			all = append(all, keypath.At(fmt.Errorf("%q is there twice", c), "server", "tls", "acme", "challenges", i))
		}
	}
	key := keypath.Of("server", "tls", "acme", "httpListen")
	switch on := a.Answers(ChallengeHTTP); {
	case on && a.HTTPListen == "":
		all = append(all, keypath.At(fmt.Errorf(`is required with %s, write for instance ":80"`, ChallengeHTTP), key))
	case !on && a.HTTPListen != "":
		all = append(all, keypath.At(fmt.Errorf("is for %s, which is not among server.tls.acme.challenges", ChallengeHTTP), key))
	case on:
		all = append(all, keypath.At(validateAddress(a.HTTPListen), key))
	}
	return errors.Join(all...)
}

// claims reports a certificate of a file that is for one of the names: which of the two
// were served would be chance.
func (a *ACME) claims(pair tls.Certificate) error {
	if a == nil {
		return nil
	}
	for _, d := range a.Domains {
		if slices.Contains(pair.Leaf.DNSNames, d) {
			return fmt.Errorf("is for %s, which is among server.tls.acme.domains too; remove one of them", d)
		}
	}
	return nil
}

// alpnACME is what a CA asks for in the handshake of tls-alpn-01, alone (RFC 8737 §3).
const alpnACME = "acme-tls/1"

// Answer has the certificate for the handshake of a CA's check.
type Answer func(*tls.ClientHelloInfo) (*tls.Certificate, error)
