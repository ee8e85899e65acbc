package files

import (
	"slices"
	"strings"
	"unicode"
)

// longestName is what file systems take.
const longestName = 255

// misnamed says what is wrong with one of the names; "" for nothing. A name with folders
// in it is a name: written below a place, it stays there.
func (r *Rules) misnamed(names []string) string {
	if r.config.Names == off {
		return ""
	}
	for _, name := range names {
		switch {
		case len(name) > longestName:
			return "a file's name is longer than 255 bytes"
		case strings.ContainsFunc(name, unprinted):
			return "a file's name has a control or direction character"
		case leaves(name):
			return "a file's name leads elsewhere"
		}
	}
	return ""
}

// unprinted is about what is not seen, or changes how the rest is: "photo\u202egnp.exe"
// reads photoexe.png.
func unprinted(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// leaves reports whether a name, taken for a path by whatever system, may lead out of
// where it is written.
func leaves(name string) bool {
	letter := len(name) > 1 && name[1] == ':' && ('a' <= name[0]|0x20 && name[0]|0x20 <= 'z')
	return letter || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") && strings.Contains(name, "/") ||
		strings.Contains(name, `\`) || slices.Contains(strings.Split(name, "/"), "..")
}
