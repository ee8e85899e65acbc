package content

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// hostOf finds the host that a URL names, as rules spell hosts: in lower case, without
// a final dot, addresses in their shortest form and without brackets. ok is false where
// it is no http or https URL, or one that two programs may read two ways: then the agent
// may fetch it from anywhere. plain says that it names the port of its scheme or none.
func hostOf(raw string) (name string, plain, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.User != nil {
		return "", false, false
	}
	port := ""
	switch u.Scheme {
	case "http":
		port = "80"
	case "https":
		port = "443"
	default:
		return "", false, false
	}
	// Before its path a URL has no place for these, except where an older reader looks for
	// the host behind an @ that we take for the query's or the fragment's.
	if u.Path == "" && strings.Contains(raw, "@") || strings.ContainsRune(raw, '\\') {
		return "", false, false
	}
	name, ok = hostName(u.Hostname(), strings.HasPrefix(u.Host, "["))
	if strings.HasSuffix(u.Host, ":") { // an empty port: allowed by RFC 3986, and used by nobody
		return name, false, ok
	}
	return name, u.Port() == "" || u.Port() == port, ok
}

// hostName brings the name of a host, or an address, to the one spelling it has here.
// Names of other alphabets have to come as xn--: what they become depends on who
// converts them.
func hostName(s string, bracketed bool) (string, bool) {
	if bracketed {
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", false
		}
		return a.Unmap().String(), true
	}
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	if s == "" || len(s) > 253 {
		return "", false
	}
	last := s
	for rest, more := s, true; more; {
		if last, rest, more = strings.Cut(rest, "."); !hostLabel(last) {
			return "", false
		}
	}
	// A host that ends in a number is an IPv4 address to some (127.1, 0x7f000001), and only
	// the form with four decimal numbers is the same to everybody.
	if '0' <= last[0] && last[0] <= '9' && numeric(last) {
		a, err := netip.ParseAddr(s)
		return s, err == nil && a.Is4()
	}
	return s, true
}

// hostLabel reports whether a part of a name between dots is made of what names of
// hosts are made of, and the underscores that some have.
func hostLabel(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// numeric reports whether a label is a number to inet_aton: decimal, octal or 0x.
// As in 0x7f, 0177 and 127.
func numeric(s string) bool {
	hex, isHex := strings.CutPrefix(s, "0x")
	if !isHex {
		return strings.Trim(s, "0123456789") == ""
	}
	return strings.Trim(hex, "0123456789abcdef") == ""
}

// hostPatterns brings patterns of hosts to the spelling that hostOf gives hosts.
// Addresses are written in their shortest form, as hosts are.
func hostPatterns(list []string) (out []string, problems []error) {
	for i, text := range list {
		host := strings.TrimSuffix(strings.ToLower(text), ".")
		if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && a.Zone() == "" {
			out = append(out, a.Unmap().String())
			continue
		}
		if host == "" || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.*") != "" {
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is no name of a host, such as files.example.com "+
				"or *.example.com: it has no scheme, port or path, and other alphabets are written as xn--", text), i), inContent, "hosts"))
		}
		out = append(out, host)
	}
	return out, problems
}
