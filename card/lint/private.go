package lint

import (
	"net/netip"
	"strings"
)

// PrivateURL finds the "//" of a URL with userinfo or a private host, -1 for none.
// low is lower case.
func PrivateURL(low string) int {
	for at := 0; ; {
		i := strings.Index(low[at:], "//")
		if i < 0 {
			return -1
		}
		i += at
		rest := low[i+2:]
		authority := rest[:authorityEnd(rest)]
		web := strings.HasSuffix(low[:i], "http:") || strings.HasSuffix(low[:i], "https:") ||
			strings.HasSuffix(low[:i], "ws:") || strings.HasSuffix(low[:i], "wss:") ||
			strings.HasSuffix(low[:i], "grpc:") || strings.HasSuffix(low[:i], "grpcs:")
		if strings.Contains(authority, "@") || isPrivate(hostOf(authority), web) {
			return i
		}
		at = i + 2
	}
}

// authorityEnd is where the authority of a URL ends in a text: also at quotes and brackets, which
// stand around URLs in sentences, and at the backslash, which browsers take for a slash.
func authorityEnd(s string) int {
	if i := strings.IndexAny(s, "/?# \t\r\n\"'<>()\\,;|{}`"); i >= 0 {
		return i
	}
	return len(s)
}

// hostOf is the host of an authority, without port and without the dot at its end, with which a
// name means the same.
func hostOf(authority string) string {
	if strings.HasPrefix(authority, "[") {
		host, _, _ := strings.Cut(authority[1:], "]")
		return host
	}
	host, _, _ := strings.Cut(authority, ":")
	return strings.TrimSuffix(host, ".")
}

// isPrivate reports whether host (lower case), found in a URL, is meant for
// inside use: a non-public IP address in any notation or a private name. With
// web also a name of a single label, which only a search domain or a container
// network resolves.
func isPrivate(host string, web bool) bool {
	switch addr, err := netip.ParseAddr(host); {
	case host == "":
		return false
	case err == nil:
		return isPrivateAddr(addr)
	case strings.Trim(host, "0123456789.") == "" || strings.HasPrefix(host, "0x"):
		return true // 2130706433, 0x7f000001, 127.1: addresses that only some resolvers read
	}
	return isPrivateName(host) || web && !strings.Contains(host, ".")
}

// isPrivateName recognises localhost and the suffixes that public DNS does not have: those that are
// reserved (RFC 6761, 6762, 8375; .internal by ICANN), and those that companies and Kubernetes use.
func isPrivateName(host string) bool {
	for _, suffix := range [...]string{
		"localhost", "local", "internal", "intranet", "lan", "corp", "home.arpa", "svc",
	} {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return true
		}
	}
	return false
}

// isPrivateAddr reports whether an address is of no use outside of the network it is in. Served, it
// would tell strangers what that network looks like, and lead clients to whatever they have there.
func isPrivateAddr(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() ||
		a.IsMulticast() || sharedSpace.Contains(a)
}

// sharedSpace is carrier-grade NAT, RFC 6598.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// PrivateHostPort finds the host of 10.0.0.5:50051 or db.internal:5432, the way
// GRPC endpoints are written, -1 for none. A bare address is left alone: it may be a
// version. low is lower case.
func PrivateHostPort(low string) int {
	for at := 0; ; {
		i := strings.IndexByte(low[at:], ':')
		if i < 0 {
			return -1
		}
		i += at
		at = i + 1
		if at == len(low) || low[at] < '0' || low[at] > '9' {
			continue
		}
		start := i
		if i > 0 && low[i-1] == ']' {
			from := max(0, i-64) // no IPv6 address is longer, with its zone
			start = from + max(0, strings.LastIndexByte(low[from:i], '['))
		}
		for start > 0 && isHostByte(low[start-1]) {
			start--
		}
		host := strings.Trim(low[start:i], ".[]")
		addr, err := netip.ParseAddr(host)
		if err == nil && isPrivateAddr(addr) || err != nil && isPrivateName(host) {
			return start
		}
	}
}

// isHostByte accepts what names and IPv4 addresses are made of. The text is lower case by then.
func isHostByte(c byte) bool {
	return c == '.' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}
