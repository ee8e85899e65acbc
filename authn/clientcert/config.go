// Package clientcert authenticates by client certificates (mTLS), among them the SVIDs of
// SPIFFE workloads: by a name in the subjectAltName, never by the common name. Which
// authorities count is package internal/server's.
package clientcert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// Config is authn.mtls: client certificates as identities. The subject is a name in the
// certificate's subjectAltName, never its common name; the principal's issuer is "mtls".
// server.tls.clientCA says which CAs count.
type Config struct {
	// Names lists the kinds of name that can be the subject, in the order of preference: uri, dns.
	// A certificate needs exactly one name of the kind that the gateway takes. Default: [uri,
	// dns].
	Names []string `yaml:"names,omitempty" jsonschema:"enum=uri,enum=dns"`
	// TrustDomains are the SPIFFE trust domains whose ids the gateway accepts (spiffe://DOMAIN/…).
	// It then accepts no other URIs. Default: any that a trusted CA vouches for.
	TrustDomains []string `yaml:"trustDomains,omitempty"`
	// Identities says more about callers, by the name in their certificate. The first match
	// counts. With any entries, the gateway refuses a certificate that matches none.
	Identities []Identity `yaml:"identities,omitempty"`
}

// Identity maps names of certificates to principals.
type Identity struct {
	// Name is the name in the certificate. A * stands for any run of characters.
	Name string `yaml:"name"`
	// Subject by which the gateway knows the caller. Default: the name in the certificate.
	Subject string `yaml:"subject,omitempty"`
	// Groups, Scopes and Tenant are given to the principal.
	Groups []string `yaml:"groups,omitempty"`
	Scopes []string `yaml:"scopes,omitempty"`
	Tenant string   `yaml:"tenant,omitempty"`
	// Agents limits the identity to these agents. Default: any.
	Agents []string `yaml:"agents,omitempty"`
}

// Kinds of names in authn.mtls.names.
const (
	nameURI = "uri"
	nameDNS = "dns"
)

// Kinds are the effective kinds of names.
func (m *Config) Kinds() []string { return slices.Clone(m.kinds()) }

// kinds are the effective kinds of names.
func (m *Config) kinds() []string {
	if len(m.Names) == 0 {
		return []string{nameURI, nameDNS}
	}
	return m.Names
}

// Validate reports what is wrong with the section, by its keys.
func (m *Config) Validate() error {
	var errs []error
	for i, kind := range m.Names {
		if kind != nameURI && kind != nameDNS {
			errs = append(errs, keypath.At(fmt.Errorf("%q is neither uri nor dns", kind), "names", i))
		}
		if slices.Contains(m.Names[:i], kind) {
			errs = append(errs, keypath.At(fmt.Errorf("%q is listed twice", kind), "names", i))
		}
	}
	for i, domain := range m.TrustDomains {
		if !trustDomain(domain) {
			errs = append(errs, keypath.At(fmt.Errorf("%q is not made of small letters, "+
				"digits, dots, hyphens and underscores", domain), "trustDomains", i))
		}
	}
	if len(m.TrustDomains) > 0 && !slices.Contains(m.kinds(), nameURI) {
		errs = append(errs, keypath.At(errors.New("SPIFFE ids are URIs, which names leaves out"), "trustDomains"))
	}
	for i := range m.Identities {
		id := &m.Identities[i]
		if slices.ContainsFunc(m.Identities[:i], func(o Identity) bool { return o.Name == id.Name }) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("name %q is listed twice", id.Name), "name"), "identities", i))
		}
		if err := id.validate(m); err != nil {
			errs = append(errs, keypath.At(err, "identities", i))
		}
	}
	return errors.Join(errs...)
}

// validate returns what is wrong with one entry, by its keys. A name without a star that no
// certificate could have would be an entry for nobody.
func (id *Identity) validate(m *Config) error {
	var errs []error
	switch {
	case id.Name == "":
		errs = append(errs, keypath.At(errors.New("missing"), "name"))
	case !strings.Contains(id.Name, "*") && m.admit(id.Name) != nil:
		errs = append(errs, keypath.At(fmt.Errorf("no certificate that is taken has it: %w", m.admit(id.Name)), "name"))
	}
	// The subject stands in logs and records.
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if len(id.Subject) > authn.MaxName || strings.ContainsFunc(id.Subject, unprintable) {
		errs = append(errs, keypath.At(fmt.Errorf("not %d bytes of printable characters at most", authn.MaxName), "subject"))
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"groups", id.Groups}, {"scopes", id.Scopes}, {"agents", id.Agents}} {
		if slices.Contains(list.names, "") {
			errs = append(errs, keypath.At(keypath.Point(errors.New("one is empty"), slices.Index(list.names, "")), list.key))
		}
	}
	return errors.Join(errs...)
}

// admit reports whether a name could be a subject under any of the kinds.
// The error is that of the last kind.
func (m *Config) admit(name string) error {
	var err error
	for _, kind := range m.kinds() {
		if err = m.checkName(kind, name); err == nil {
			return nil
		}
	}
	return err
}

// identity finds what is said of a name: nothing and true where nothing is said of
// any.
// Patterns are few, and asked in the order of the file.
func (m *Config) identity(name string) (Identity, bool) {
	for i := range m.Identities {
		if pattern.Match(m.Identities[i].Name, name) {
			return m.Identities[i], true
		}
	}
	return Identity{}, len(m.Identities) == 0
}
