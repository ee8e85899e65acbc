package card

import (
	"net"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// removed stands where a text that a card cannot do without gave something away.
const removed = "[removed]"

// guard finds what must not leave with a card: the agent's own addresses,
// private addresses, credentials in URLs, what looks like a secret, what a reader
// does not see, and what is longer than anybody reads.
type guard struct {
	needles []string // lower case; the agent's hosts
	limits  lint.Limits
}

// newGuard collects the agent's addresses: where the card came from, every
// endpoint in it (usable or not) and what the operator wrote down.
func newGuard(c *Card, hidden []string, limits lint.Limits) guard {
	g := guard{limits: limits.OrDefault()}
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

// splitAddress takes a URL, or an address as gRPC has it, with or without a port.
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

// leaks reports whether s gives anything away. What is hidden in s hides nothing.
func (g guard) leaks(s string) bool {
	start, _ := g.next(lint.Clean(s), 0)
	return start >= 0
}

// unfit reports whether s cannot be shown as what it is, an identifier: it leaks, does
// not read as what it is, or is too long.
func (g guard) unfit(s string, limit int) bool {
	return len(s) > limit || lint.Clean(s) != s || g.leaks(s)
}

// prose is s as it may be shown: without what it gives away and what does not show, and no
// longer than limit. It is for texts that people read, which are better cut than gone;
// everything else goes as a whole.
func (g guard) prose(s string, limit int) string {
	s = g.redact(s)
	if len(s) <= limit {
		return s
	}
	for ; limit > 0; limit /= 2 { // an end that is cut off may read as something else
		if cut := lint.Shorten(s, limit); !g.unfit(cut, limit) {
			return cut
		}
	}
	return ""
}

// redact replaces what s gives away and drops what does not show.
func (g guard) redact(s string) string {
	s = lint.Clean(s)
	if strings.Contains(s, lint.KeyMark) {
		return removed // the key itself follows in words of its own
	}
	var b strings.Builder
	at := 0
	for range maxRedactions {
		start, end := g.next(s, at)
		if start < 0 {
			return b.String() + s[at:]
		}
		b.WriteString(s[at:start])
		b.WriteString(removed)
		at = end
	}
	return removed
}

// maxRedactions bounds the work on one text; one with more in it is no prose.
const maxRedactions = 32

// next finds the first thing at or after from that must go, widened to the word
// around it, or returns -1.
func (g guard) next(s string, from int) (start, end int) {
	low := lint.ASCIILower(s[from:])
	first := -1
	at := func(i int) {
		if i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	for _, needle := range g.needles {
		at(strings.Index(low, needle))
	}
	at(lint.PrivateURL(low))
	at(lint.PrivateHostPort(low))
	at(lint.SecretIn(s[from:]))
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
// something away, and from those that stay what does not show. It returns nil when
// nothing of the value may stay.
func (g guard) scrub(v jsontext.Value) jsontext.Value {
	switch v.Kind() {
	case '"':
		return g.shown(v, g.limits.Text)
	case '{':
		out := object{}
		for _, m := range members(v) {
			if !g.unfit(m.name, g.limits.Name) {
				out.put(m.name, g.scrub(m.value))
			}
		}
		return out.encode()
	case '[':
		return array(g.scrubAll(elements(v)))
	}
	return v
}

// shown is a JSON string as it may be shown: in the agent's own bytes if that is all of
// it, nil if it leaks or is too long.
func (g guard) shown(v jsontext.Value, limit int) jsontext.Value {
	s := text(v)
	switch clean := lint.Clean(s); {
	case len(clean) > limit, g.leaks(clean):
		return nil
	case clean != s:
		return quote(clean)
	}
	return v
}

// said is shown for what people read: cut where it is too long.
func (g guard) said(v jsontext.Value, limit int) jsontext.Value {
	s := text(v)
	if len(s) <= limit || g.leaks(s) {
		return g.shown(v, limit)
	}
	return quote(g.prose(s, limit))
}

// scrubAll scrubs a list. What is nothing without what was taken out of it goes as a whole.
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
	if origin(s) == "" || g.unfit(s, g.limits.Text) {
		return ""
	}
	return s
}

// isDelimiter bounds a word in prose.
func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '"', '\'', '<', '>', '(', ')', '`':
		return true
	}
	return false
}
