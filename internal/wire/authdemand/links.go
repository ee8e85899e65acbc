package authdemand

import (
	"slices"
	"strings"
	"unicode"
)

const (
	mostLinks = 64
	// mostFound bounds the work on a text full of the same link, nested in itself.
	mostFound = 1024
	// longestHost bounds what stands before a link's path; names have 253 characters.
	longestHost = 1024
	// longestLink bounds what is kept of a link; its end says nothing of where it leads.
	longestLink = 8 << 10
	// longestScheme bounds what is taken for one; http and https are found behind anything.
	longestScheme = 32
)

// links are those of a demand, which are where phishing would begin. They are found by what
// browsers and linkifiers would follow, not by RFC 3986 alone:
//
//	https://a.example/x        a link
//	HTTP:/\a.example           one too: slashes of either kind, any number of them
//	seehttps://a.example       one too, where a linkifier looks for the scheme in words
//	mailto:a@b.example         none: it has no authority, and leads to no host
type links struct {
	list  []string
	cut   bool
	found int // before it was known which are the same
}

// add adds the URLs in a text. It takes for a link what browsers would follow
// (http:/\host is one to them) as well as what RFC 3986 calls one: what is missed here
// is not held against the hosts that links may lead to. A URL in the query or fragment
// of another is a parameter.
func (l *links) add(text string) {
	var query, end int // of the link before
	for at := 0; !l.cut; {
		colon := strings.IndexByte(text[at:], ':')
		if colon < 0 {
			return
		}
		colon += at
		if at = colon + 1; query <= colon && colon < end {
			at = end
			continue
		}
		scheme := schemeOf(text[max(0, colon-longestScheme):colon])
		begin := behindSlashes(text, colon+1, isWeb(scheme))
		if scheme == "" || begin < 0 {
			continue
		}
		rest := text[begin:]
		link := rest[:endInWords(rest)]
		if alone := strings.TrimSpace(text[:colon]); strings.EqualFold(alone, scheme) &&
			authority(link) != authority(rest) && !strings.ContainsFunc(rest, unicode.IsSpace) {
			l.addOne(scheme, rest) // a URL by itself, with punctuation in what may be its host
		}
		l.addOne(scheme, link)
		if q := strings.IndexAny(link, "?#"); q >= 0 {
			query, end = begin+q, begin+len(link)
		}
	}
}

// schemeOf is the scheme at the end of s, in lower case, or "". Words may run into
// the two that matter: linkifiers see https in "seehttps".
func schemeOf(s string) string {
	begin := len(s)
	for begin > 0 && isSchemeByte(s[begin-1]) {
		begin--
	}
	s = strings.ToLower(s[begin:])
	for _, web := range []string{"https", "http"} {
		if strings.HasSuffix(s, web) {
			return web
		}
	}
	return strings.TrimLeft(s, "0123456789+-.")
}

// isWeb knows the schemes whose URLs browsers read leniently (WHATWG URL, "special" schemes).
func isWeb(scheme string) bool { return scheme == "https" || scheme == "http" }

// isSchemeByte is RFC 3986 §3.1, in either case.
func isSchemeByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}

// behindSlashes is where the authority begins behind a colon, negative where there is
// none. On the web any run of slashes and backslashes will do, and line ends in it.
func behindSlashes(text string, at int, web bool) int {
	rest, ok := strings.CutPrefix(text[at:], "//")
	if web {
		slashes := strings.TrimLeft(text[at:], "/\\\t\r\n")
		ok = strings.ContainsAny(text[at:len(text)-len(slashes)], `/\`)
		rest = slashes
	}
	if !ok || authority(rest[:endInWords(rest)]) == "" {
		return -1
	}
	return len(text) - len(rest)
}

// authority is what stands before the path, the query or the fragment.
func authority(link string) string {
	if end := strings.IndexAny(link, `/?#\`); end >= 0 {
		return link[:end]
	}
	return link
}

// addOne adds scheme://rest. A host that is too long is not cut, for the beginning of
// one may be another.
func (l *links) addOne(scheme, rest string) {
	if len(rest) > longestLink {
		rest = strings.ToValidUTF8(rest[:longestLink], "")
	}
	link := scheme + "://" + rest
	l.found++
	switch {
	case len(authority(rest)) > longestHost, l.found > mostFound:
		l.cut = true
	case slices.Contains(l.list, link):
	case len(l.list) == mostLinks:
		l.cut = true
	default:
		l.list = append(l.list, link)
	}
}

// endInWords is where a link ends that stands among words: at a space or what cannot
// be in a URL, at the bracket that closes the one it stands in, at punctuation that no
// URL has; and before the full stop, comma or asterisks behind it.
func endInWords(s string) int {
	end, round, square, host := len(s), 0, 0, true
scan:
	for i, r := range s {
		switch {
		case i > longestLink:
			end = i
			break scan
		case r <= ' ', r == 0x7f, strings.ContainsRune("\"<>`", r), unicode.IsSpace(r):
			end = i
			break scan
		case r == '/', r == '?', r == '#', r == '\\':
			host = false
		case r == '(':
			round++
		case r == '[':
			square++
		case r == ')' && round == 0, r == ']' && square == 0:
			end = i
			break scan
		case r == ')':
			round--
		case r == ']':
			square--
		case r > unicode.MaxASCII && unicode.IsPunct(r) && (!host || !strings.ContainsRune("。．｡", r)): // but for dots of names
			end = i
			break scan
		}
	}
	return len(strings.TrimRight(s[:end], ".,;:!?'*_~"))
}
