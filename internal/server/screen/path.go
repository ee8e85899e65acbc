package screen

import (
	"net/url"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// checkPath lets exactly one spelling of every path through (L11): the one
// that net/url writes for the decoded path. Then RawPath is empty, and Path is
// all that anybody can look at. Of what remains, it refuses what others decode
// again, cut off or climb up with.
//
// Refused by the first rule alone: %2F, %2e, %41, lower-case hex, a raw space
// or backslash, overlong and invalid UTF-8 that is not encoded byte by byte.
func checkPath(u *url.URL) *wire.Error {
	if u.RawPath != "" {
		return malformed("path is not in its canonical form")
	}
	path := u.Path
	segment := 0 // where the current one starts
	dots := true // it has nothing but dots so far
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/':
			if i > 0 && dots { // empty, or . or ..
				return malformed("path holds an empty or dot segment")
			}
			segment, dots = i+1, true
			continue
		case c < ' ' || c == 0x7f:
			return malformed("path holds a control character")
		case c == '\\' || c == ';' || c == '%':
			return malformed("path holds a backslash, semicolon or percent sign")
		case c != '.':
			dots = false
		}
	}
	if dots && segment < len(path) {
		return malformed("path holds an empty or dot segment")
	}
	if !utf8.ValidString(path) {
		return malformed("path is not valid UTF-8")
	}
	return nil
}
