package card

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// removed stands where a text that a card cannot do without gave something away.
const removed = "[removed]"

// guard finds what must not leave with a card: the agent's own addresses,
// private addresses, credentials in URLs, and what looks like a secret.
type guard struct {
	needles []string // lower case; the agent's hosts
}

// newGuard collects the agent's addresses: where the card came from, every
// endpoint in it (usable or not) and what the operator wrote down.
func newGuard(c *Card, hidden []string) guard {
	var g guard
	g.hide(c.source)
	for _, v := range elements(c.top.find("supportedInterfaces")) {
		g.hide(members(v).text("url"))
	}
	for _, v := range elements(c.top.find("additionalInterfaces")) {
		g.hide(members(v).text("url"))
	}
	g.hide(c.top.text("url"))
	for _, address := range hidden {
		g.hide(address)
	}
	return g
}

// hide adds an address: a URL, host:port or host.
func (g *guard) hide(address string) {
	host, port := splitAddress(address)
	host = strings.Trim(strings.ToLower(host), ".")
	if len(host) < 2 {
		return // would match half of every text
	}
	if strings.Contains(host, ":") {
		g.needles = append(g.needles, "["+host+"]")
		return
	}
	if strings.Contains(host, ".") {
		g.needles = append(g.needles, host)
		return
	}
	// A one-word host such as "billing" is also an ordinary word of a card's
	// text. It counts only where it stands as an address.
	g.needles = append(g.needles, "//"+host, "@"+host)
	if port != "" {
		g.needles = append(g.needles, host+":"+port)
	}
}

func splitAddress(address string) (host, port string) {
	if strings.Contains(address, "//") {
		u, err := url.Parse(address)
		if err != nil {
			return "", ""
		}
		return u.Hostname(), u.Port()
	}
	if h, p, err := net.SplitHostPort(address); err == nil {
		return h, p
	}
	return strings.Trim(address, "[]"), ""
}

// leaks reports whether s gives anything away.
func (g guard) leaks(s string) bool {
	start, _ := g.next(s, 0)
	return start >= 0
}

// redact replaces what s gives away. It is for texts that a card must have;
// everything else goes as a whole.
func (g guard) redact(s string) string {
	if strings.Contains(s, keyMark) {
		return removed // the key itself follows in words of its own
	}
	var b strings.Builder
	at := 0
	for {
		start, end := g.next(s, at)
		if start < 0 {
			return b.String() + s[at:]
		}
		b.WriteString(s[at:start])
		b.WriteString(removed)
		at = end
	}
}

// next finds the first thing at or after from that must go, widened to the word
// around it, or returns -1.
func (g guard) next(s string, from int) (start, end int) {
	low := asciiLower(s[from:])
	first := -1
	at := func(i int) {
		if i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	for _, needle := range g.needles {
		at(strings.Index(low, needle))
	}
	at(privateURL(low))
	at(privateHostPort(low))
	at(secretIn(s[from:]))
	if first < 0 {
		return -1, -1
	}
	start, end = first, first
	for start > 0 && !isDelimiter(low[start-1]) {
		start--
	}
	for end < len(low) && !isDelimiter(low[end]) {
		end++
	}
	return from + start, from + max(end, start+1)
}

// scrub removes from a value every string, member name included, that gives
// something away. It returns nil when nothing of the value may stay.
func (g guard) scrub(v jsontext.Value) jsontext.Value {
	switch v.Kind() {
	case '"':
		if g.leaks(text(v)) {
			return nil
		}
	case '{':
		out := object{}
		for _, m := range members(v) {
			if !g.leaks(m.name) {
				out.put(m.name, g.scrub(m.value))
			}
		}
		return out.encode()
	case '[':
		return array(g.scrubAll(elements(v)))
	}
	return v
}

func (g guard) scrubAll(values []jsontext.Value) []jsontext.Value {
	var out []jsontext.Value
	for _, v := range values {
		if v = g.scrub(v); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// link passes a URL that people follow (documentation, icon, provider): http or
// https to a public host other than the agent's. Anything else is "".
func (g guard) link(s string) string {
	if origin(s) == "" || g.leaks(s) {
		return ""
	}
	return s
}

// privateURL finds "//" before an authority with userinfo or a private host.
// low is lower case.
func privateURL(low string) int {
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

func authorityEnd(s string) int {
	if i := strings.IndexAny(s, "/?# \t\r\n\"'<>()\\,;|{}`"); i >= 0 {
		return i
	}
	return len(s)
}

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

// isPrivateName recognises localhost and the suffixes that public DNS does not have.
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

func isPrivateAddr(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() ||
		a.IsMulticast() || sharedSpace.Contains(a)
}

// sharedSpace is carrier-grade NAT, RFC 6598.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// privateHostPort finds the host of 10.0.0.5:50051 or db.internal:5432, the way
// GRPC endpoints are written. A bare address is left alone: it may be a version.
// low is lower case.
func privateHostPort(low string) int {
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
			start = max(strings.LastIndexByte(low[:i], '['), 0)
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

// isHostByte accepts what names and IPv4 addresses are made of.
func isHostByte(c byte) bool {
	return c == '.' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}

// keyMark ends the first line of a PEM private key of any kind.
const keyMark = "PRIVATE KEY-----"

// secretIn finds what by its form is a credential that strayed into a card.
func secretIn(s string) int {
	if i := strings.Index(s, keyMark); i >= 0 {
		return i
	}
	for _, mark := range [...]struct {
		prefix string
		length int // of what follows, at least
	}{
		{"AKIA", 16}, {"ASIA", 16}, {"AIza", 35}, {"ghp_", 36}, {"gho_", 36}, {"github_pat_", 22},
		{"glpat-", 20}, {"xoxb-", 10}, {"xoxp-", 10}, {"sk-", 32}, {"sk_live_", 16}, {"eyJhbGci", 32},
	} {
		for at := 0; ; {
			i := strings.Index(s[at:], mark.prefix)
			if i < 0 {
				break
			}
			i += at
			at = i + len(mark.prefix)
			if tokenLength(s[at:]) >= mark.length && (i == 0 || tokenLength(s[i-1:i]) == 0) {
				return i
			}
		}
	}
	return -1
}

// tokenLength counts the leading bytes that keys are made of.
func tokenLength(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return i
		}
	}
	return len(s)
}

// isDelimiter bounds a word in prose.
func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '"', '\'', '<', '>', '(', ')', '`':
		return true
	}
	return false
}

// asciiLower keeps every byte in its place, which strings.ToLower does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
