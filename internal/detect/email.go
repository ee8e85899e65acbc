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
		if begin < i && strings.IndexByte(domain, '.') > 0 {
			found = append(found, span{begin, i + size + len(domain)})
		}
	}
	return found
}

func isLocal(c byte) bool { return isWord(c) || strings.IndexByte(".%+-!#$&'*/=?^`{|}~", c) >= 0 }

func isDomain(c byte) bool { return isWord(c) && c != '_' || c == '.' || c == '-' }
