// Package hostname has the one spelling of the host that an HTTP request names (the Host field,
// :authority in HTTP/2, the authority of a URL). Routes, the hosts of agents, CORS and records
// compare hosts byte by byte; two spellings of one host, as "Example.com:443" and
// "example.com", would otherwise be two to one of them and one to another, and whoever wrote the
// request could choose between them.
package hostname

import (
	"net/netip"
	"strconv"
	"strings"
)

// Canonical gives the one spelling under which a Host is looked up:
// lower case, IPv6 addresses as RFC 5952 writes them and in brackets, the port
// without leading zeros, and no port where it is empty or one that a scheme
// implies (80, 443). It is false for anything but a host with an optional port:
// a name of letters, digits, hyphens and underscores in labels of 1 to 63
// characters, 253 in all and without a final dot, or an address; no user, no
// percent sign, no zone (RFC 9110 §7.2, RFC 3986 §3.2.2, docs/threat-model.md L07).
//
// Nothing is allocated where the host is canonical already.
func Canonical(s string) (string, bool) {
	host, port, ok := Split(s)
	if !ok {
		return "", false
	}
	canonical, ok := CanonicalName(host)
	if !ok {
		return "", false
	}
	if port == "" || port == "80" || port == "443" {
		return canonical, true
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", false
	}
	if port[0] == '0' {
		return Canonical(canonical + ":" + strings.TrimLeft(port, "0"))
	}
	if canonical == host { // then s is canonical as it stands
		return s[:len(host)+1+len(port)], true
	}
	return canonical + ":" + port, true
}

// splitHost cuts s into host, brackets included, and port of digits.
func Split(s string) (host, port string, ok bool) {
	end := strings.IndexByte(s, ':')
	if strings.HasPrefix(s, "[") {
		end = strings.IndexByte(s, ']') + 1
		if end == 0 || end < len(s) && s[end] != ':' {
			return "", "", false
		}
	}
	if end < 0 || end == len(s) {
		return s, "", true
	}
	host, port = s[:end], s[end+1:]
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return "", "", false
		}
	}
	return host, port, true
}

// CanonicalName is Canonical for a host without a port: a name in lower case, or an IPv6 address
// in brackets as RFC 5952 writes it.
func CanonicalName(host string) (string, bool) {
	if strings.HasPrefix(host, "[") {
		return canonicalIPv6(host)
	}
	if len(host) > 253 {
		return "", false
	}
	label := 0
	for i := range len(host) {
		switch c := host[i]; {
		case c == '.' && label == 0:
			return "", false
		case c == '.':
			label = 0
			continue
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return "", false
		}
		if label++; label > 63 {
			return "", false
		}
	}
	return strings.ToLower(host), label > 0
}

// canonicalIPv6 takes an address in brackets. One that is IPv4 in disguise is
// refused: it would be a second spelling of another host.
func canonicalIPv6(host string) (string, bool) {
	addr, err := netip.ParseAddr(host[1 : len(host)-1])
	if err != nil || !addr.Is6() || addr.Is4In6() || addr.Zone() != "" {
		return "", false
	}
	var buf [64]byte
	out := append(addr.AppendTo(append(buf[:0], '[')), ']')
	if string(out) == host {
		return host, true
	}
	return string(out), true
}
