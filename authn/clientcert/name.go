package clientcert

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Names in a certificate, and how they are tagged there (RFC 5280 §4.2.1.6).
const (
	tagDNS = 2
	tagURI = 6
)

// subjectAltName is the extension that holds them.
func subjectAltName() asn1.ObjectIdentifier { return asn1.ObjectIdentifier{2, 5, 29, 17} }

// altNames are the names of one kind, byte by byte as the CA signed them: what the
// x509 package makes of them (a URI without its empty fragment, say) may be the name
// of somebody else.
func altNames(leaf *x509.Certificate, tag int) ([]string, error) {
	var names []string
	for i := range leaf.Extensions {
		if !leaf.Extensions[i].Id.Equal(subjectAltName()) {
			continue
		}
		var all []asn1.RawValue
		if rest, err := asn1.Unmarshal(leaf.Extensions[i].Value, &all); err != nil || len(rest) > 0 {
			return nil, errors.New("subjectAltName cannot be read")
		}
		for _, n := range all {
			if n.Class == asn1.ClassContextSpecific && n.Tag == tag {
				names = append(names, string(n.Bytes))
			}
		}
	}
	return names, nil
}

// subject is the one name that a certificate goes by: of the first kind that it has
// names of. Two of a kind are two identities, and nobody can tell which of them calls.
func (m *Config) subject(leaf *x509.Certificate) (string, error) {
	for _, kind := range m.kinds() {
		tag := tagURI
		if kind == nameDNS {
			tag = tagDNS
		}
		names, err := altNames(leaf, tag)
		switch {
		case err != nil:
			return "", err
		case len(names) > 1:
			return "", fmt.Errorf("%d names of kind %s", len(names), kind)
		case len(names) == 1:
			return names[0], m.checkName(kind, names[0])
		}
	}
	return "", fmt.Errorf("no name of kind %s", strings.Join(m.kinds(), " or "))
}

// checkName admits names that read as they are written: no wildcards, and one spelling
// of each.
func (m *Config) checkName(kind, name string) error {
	if name == "" || len(name) > authn.MaxName {
		return fmt.Errorf("a name of %d bytes", len(name))
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("*\"<>\\^`{|}", c) >= 0 {
			return fmt.Errorf("byte %d of the name %.80q", i, name)
		}
	}
	switch id, spiffe := strings.CutPrefix(name, "spiffe://"); {
	case kind == nameDNS && !hostName(name):
		return fmt.Errorf("%.80q is not a host name in small letters", name)
	case kind == nameDNS:
		return nil
	case spiffe:
		return m.checkSPIFFE(id)
	case len(m.TrustDomains) > 0:
		return fmt.Errorf("%.80q is not a SPIFFE id", name)
	}
	return checkURI(name)
}

// checkSPIFFE admits what follows spiffe:// in the id of a workload: the trust domain,
// and a path that is not empty, since without one it is the domain itself (SPIFFE-ID
// §2, X509-SVID §2 and §3).
func (m *Config) checkSPIFFE(id string) error {
	domain, path, _ := strings.Cut(id, "/")
	switch {
	case !trustDomain(domain):
		return fmt.Errorf("%.80q is not a SPIFFE trust domain", domain)
	case len(m.TrustDomains) > 0 && !slices.Contains(m.TrustDomains, domain):
		return fmt.Errorf("the SPIFFE trust domain %.80q is not one of authn.mtls.trustDomains", domain)
	}
	for segment := range strings.SplitSeq(path, "/") {
		dots := segment == "." || segment == ".."
		if segment == "" || dots || !consists(segment, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"+small+"._-") {
			return fmt.Errorf("the path of the SPIFFE id is %.80q", path)
		}
	}
	return nil
}

// small letters and digits.
const small = "abcdefghijklmnopqrstuvwxyz0123456789"

// consists reports whether s has characters of this set only.
func consists(s, set string) bool { return strings.Trim(s, set) == "" }

// trustDomain reports whether a SPIFFE trust domain is spelled as such (SPIFFE-ID §2.1).
func trustDomain(s string) bool {
	return s != "" && len(s) <= authn.MaxName && consists(s, small+"._-")
}

// hostName reports whether s is a host name of letters, digits and hyphens (RFC 1123
// §2.1), in small letters and without a dot at the end.
func hostName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			!consists(label, small+"-") {
			return false
		}
	}
	return true
}

// checkURI admits URIs of other schemes. A query or fragment is no part of a name, and
// who stands before an @ is not the host.
func checkURI(name string) error {
	scheme, _, ok := strings.Cut(name, ":")
	u, err := url.Parse(name)
	switch {
	case err != nil || !ok || !consists(scheme, small+"+-.") || scheme == "":
		return fmt.Errorf("%.80q is not an absolute URI", name)
	case scheme == "spiffe":
		return fmt.Errorf("%.80q is not a SPIFFE id", name)
	case strings.ContainsAny(name, "?#") || u.User != nil || u.Host != strings.ToLower(u.Host):
		return fmt.Errorf("%.80q has a query, a fragment, a user or a host in capitals", name)
	}
	return nil
}
