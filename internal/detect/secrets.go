package detect

import (
	"encoding/base64"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// apiKeys finds what providers' keys look like, by the list that cards are held against: what must not
// be in a card that everybody reads must not be in a log either.
func apiKeys(found []span, s string) []span {
	for begin, end := range lint.Secrets(s) {
		found = append(found, span{begin, end})
	}
	return found
}

// privateKeys finds PEM, to its end or that of the text.
// A key whose end was cut off is taken out to the end of the text.
func privateKeys(found []span, s string) []span {
	for at := 0; ; {
		i := strings.Index(s[at:], lint.KeyMark)
		if i < 0 {
			return found
		}
		i += at
		begin, end := i, len(s)
		if dashes := strings.LastIndex(s[at:i], "-----BEGIN"); dashes >= 0 {
			begin = at + dashes
		}
		rest := i + len(lint.KeyMark)
		if last := strings.Index(s[rest:], "-----END"); last >= 0 {
			if mark := strings.Index(s[rest+last:], lint.KeyMark); mark >= 0 {
				end = rest + last + mark + len(lint.KeyMark)
			}
		}
		found = append(found, span{begin, end})
		at = end
	}
}

// tokens finds credentials as headers have them, JSON Web Tokens and passwords in URLs.
// Schemes are those of RFC 6750 (Bearer), RFC 9449 (DPoP) and RFC 7617 (Basic).
func tokens(found []span, s string) []span {
	found = afterSchemes(found, s)
	found = jwts(found, s)
	return userinfo(found, s)
}

// schemes are those whose credentials are found behind their names, in lower case. What is good is
// asked last, since words such as "basic" stand in ordinary sentences.
var schemes = [...]struct {
	name string
	good func(string) bool
}{{"bearer", isBearer}, {"dpop", isBearer}, {"basic", isBasic}}

// afterSchemes finds credentials behind the name of their scheme, which has no case. Between the two
// may be a colon, as people write it, or a plus, as forms encode a space.
func afterSchemes(found []span, s string) []span {
	for i := 0; i < len(s); i++ {
		if classes[s[i]] != schemeByte {
			continue
		}
		k := schemeAt(s, i)
		if k < 0 {
			continue
		}
		at := i + len(schemes[k].name)
		begin := at
		for begin < len(s) && (s[begin] == ' ' || s[begin] == ':' || s[begin] == '\t' || s[begin] == '+') {
			begin++
		}
		end := begin
		for end < len(s) && isToken68(s[end]) {
			end++
		}
		i = at - 1
		if begin > at && schemes[k].good(s[begin:end]) {
			found = append(found, span{begin, end})
			i = end - 1
		}
	}
	return found
}

// schemeAt says which scheme's name stands at a place; -1 for none.
func schemeAt(s string, i int) int {
	for k := range schemes {
		if name := schemes[k].name; len(s)-i >= len(name) && equalFold(s[i:i+len(name)], name) {
			return k
		}
	}
	return -1
}

// isToken68 is what a credential may be made of (RFC 9110 §11.2).
func isToken68(c byte) bool { return isAlnum(c) || strings.IndexByte("-._~+/=", c) >= 0 }

// isBearer tells tokens from words, by length and digits.
//
// A sentence such as "the bearer of this letter" has no word that is long or has digits.
func isBearer(s string) bool {
	return len(s) >= 20 || len(s) >= 8 && strings.ContainsAny(s, "0123456789")
}

// isBasic reports whether a text is a user and a password as HTTP Basic has them: the colon between
// the two is what tells them from a word that happens to be base64.
func isBasic(s string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && strings.IndexByte(string(plain), ':') >= 0
}

// shortestJWT keeps words that begin like a header from being taken for one.
const shortestJWT = 20

// jwts finds what begins with a JSON object in base64url and has parts.
// eyJ is base64url of an opening brace and a quote, with which every JOSE header begins.
func jwts(found []span, s string) []span {
	for at := 0; ; {
		i := strings.Index(s[at:], "eyJ")
		if i < 0 {
			return found
		}
		begin := at + i
		if at = begin + 3; begin > 0 && isAlnum(s[begin-1]) {
			continue
		}
		end := at
		for end < len(s) && (isAlnum(s[end]) || strings.IndexByte("-_.=", s[end]) >= 0) {
			end++
		}
		if end-begin >= shortestJWT && strings.IndexByte(s[begin:end], '.') > 0 {
			found = append(found, span{begin, end})
		}
		at = end
	}
}

// longestUserinfo bounds what is looked through behind each "://" of a text that is full of them.
const longestUserinfo = 512

// userinfo finds user and password before the host of a URL. A user alone is none: it is in every
// git and ssh address. The last @ counts, because a password may have one that nobody encoded.
func userinfo(found []span, s string) []span {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return found
		}
		at += i + 3
		authority := s[at:min(len(s), at+longestUserinfo)]
		if end := strings.IndexAny(authority, "/?# \t\r\n\"<>"); end >= 0 {
			authority = authority[:end]
		}
		last := strings.LastIndexByte(authority, '@')
		if last > 0 && strings.IndexByte(authority[:last], ':') >= 0 {
			found = append(found, span{at, at + last})
		}
	}
}

// indexFold is where an ASCII word in lower case stands in a text, in whatever case; -1 for nowhere.
// It looks for the first letter in both cases, as most texts have few of either.
func indexFold(s, word string) int {
	for at := 0; ; at++ {
		i := indexLetter(s[at:], word[0])
		if i < 0 || len(s)-at-i < len(word) {
			return -1
		}
		at += i
		if equalFold(s[at:at+len(word)], word) {
			return at
		}
	}
}

// indexLetter is where a letter stands first, in either case.
func indexLetter(s string, letter byte) int {
	for i := range len(s) {
		if s[i]|0x20 == letter {
			return i
		}
	}
	return -1
}

// equalFold reports whether a text of the same length is an ASCII word in lower case.
func equalFold(s, word string) bool {
	for i := len(word) - 1; i >= 0; i-- { // ends differ sooner than beginnings
		if s[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
