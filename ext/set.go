package ext

import (
	"errors"
	"fmt"
	"slices"
)

// Set is a list of extension URIs without repeats, in the order in which they
// were first named. Sets are short (Limits), so that a linear search beats a map.
// The nil Set is empty and ready to use.
type Set []string

// Has reports whether uri is in s, byte for byte.
func (s Set) Has(uri string) bool {
	for _, u := range s {
		if u == uri {
			return true
		}
	}
	return false
}

// Only is those of s that keep keeps, in memory that is not to be written to: where that is
// all of it, it is s.
func (s Set) Only(keep func(uri string) bool) Set {
	for i, uri := range s {
		if keep(uri) {
			continue
		}
		kept := append(make(Set, 0, len(s)-1), s[:i]...)
		for _, uri := range s[i+1:] {
			if keep(uri) {
				kept = append(kept, uri)
			}
		}
		return kept
	}
	return slices.Clip(s)
}

// Declared is an extension as an agent's card lists it in capabilities.extensions.
type Declared struct {
	URI      string // identifier, compared byte for byte
	Required bool   // a client that does not activate it must be refused

	// Params are the card's parameters of the extension, as JSON; nil for none.
	Params []byte

	// Description is what a card says about the extension: the agent's words in its
	// own card; in a served one those, or the registry's, and what becomes of it.
	Description string
}

// errURI is what CheckURI wraps.
var errURI = errors.New("not an absolute URI")

// CheckURI refuses what cannot be an extension's identifier: anything but an
// absolute URI in the characters of RFC 3986 §2. A comma, though legal in a
// URI, is refused too, because it would read as two entries in the header.
func CheckURI(uri string) error {
	colon := schemeEnd(uri)
	if colon <= 0 || colon == len(uri)-1 {
		return fmt.Errorf("extension %q: %w", clip(uri), errURI)
	}
	for i := colon + 1; i < len(uri); i++ {
		if !isURIByte(uri[i]) || uri[i] == ',' {
			return fmt.Errorf("extension %q: character %q: %w", clip(uri), uri[i], errURI)
		}
	}
	return nil
}

// schemeEnd finds the colon after the scheme (RFC 3986 §3.1), or returns -1.
func schemeEnd(uri string) int {
	for i := 0; i < len(uri); i++ {
		c := uri[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case letter:
		case c == ':':
			return i
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return -1
		}
	}
	return -1
}

// isURIByte accepts unreserved, reserved and percent (RFC 3986 §2): visible
// ASCII without the characters that a URI must escape.
func isURIByte(c byte) bool {
	switch c {
	case '"', '<', '>', '\\', '^', '`', '{', '|', '}':
		return false
	}
	return '!' <= c && c <= '~'
}

// clip keeps a client's text short enough to repeat in an error.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// Union has the members of both, in memory that is not to be written to.
func Union(a, b Set) Set {
	switch {
	case len(a) == 0:
		return slices.Clip(b)
	case len(b) == 0:
		return slices.Clip(a)
	}
	out := slices.Clip(a) // so that what is added makes a copy
	for _, uri := range b {
		if !out.Has(uri) {
			out = append(out, uri)
		}
	}
	return out
}
