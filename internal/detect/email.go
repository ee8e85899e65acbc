package detect

import "strings"

const (
	longestLocal  = 320 // of an address, with room for what is percent-encoded
	longestDomain = 255
)

// emails finds addresses, also those whose @ is encoded as in URLs.
// It takes more than RFC 5322 allows: a text too much that is taken out is better than an address
// that stays. It looks for the @ and then to both sides, because most texts have none, and are
// done with at the speed of a search for a byte.
func emails(found []span, s string) []span {
	for i := 0; i < len(s); i++ {
		size := 0
		switch {
		case s[i] == '@':
			size = 1
		case strings.HasPrefix(s[i:], "%40"):
			size = 3
		default:
			continue
		}
		begin, end := i, i+size
		// The bounds keep the time linear in a text that is nothing but letters and @ signs.
		for begin > 0 && i-begin < longestLocal && isLocal(s[begin-1]) {
			begin--
		}
		for end < len(s) && end-i < longestDomain && isDomain(s[end]) {
			end++
		}
		domain := strings.TrimRight(s[i+size:end], ".-")
		// The last label has a letter, else it is a version: react@18.2.0.
		if dot := strings.LastIndexByte(domain, '.'); begin < i && dot > 0 && strings.ContainsFunc(domain[dot:], isNoDigit) {
			found = append(found, span{begin, i + size + len(domain)})
		}
	}
	return found
}

// isLocal leaves out what ends a part of a URL, which RFC 5322 allows in an address and nobody has.
func isLocal(c byte) bool { return isWord(c) || strings.IndexByte(".%+-!#$'*^`~", c) >= 0 }

func isDomain(c byte) bool { return isWord(c) && c != '_' || c == '.' || c == '-' }

// isNoDigit reports whether a character of a label is no digit.
func isNoDigit(r rune) bool { return r != '.' && (r < '0' || r > '9') }
