package lint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits are how long the texts of served cards are at most. 0 is the default,
// everywhere.
type Limits struct {
	Name    int // of names, ids, tags, versions and media types, in bytes
	Text    int // of everything else, in bytes
	Entries int // in a list of tags, examples or media types
}

// OrDefault is l with its defaults.
func (l Limits) OrDefault() Limits {
	for _, limit := range []struct {
		at   *int
		most int
	}{{&l.Name, longestName}, {&l.Text, longestText}, {&l.Entries, mostEntries}} {
		if *limit.at <= 0 {
			*limit.at = limit.most
		}
	}
	return l
}

const (
	longestName = 200
	longestText = 4096
	mostEntries = 100
)

// mark stands where a text was cut.
const mark = "…"

// Shorten is as much of s as goes into limit bytes, with … at its end if that is not all of
// it. It does not cut what a reader sees as one character, and leaves no space at the end.
func Shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if limit < len(mark) {
		return ""
	}
	return strings.TrimRightFunc(s[:boundary(s, limit-len(mark))], unicode.IsSpace) + mark
}

// longestCharacter is how far back the beginning of a character is looked for: the
// longest emoji there are have 35 bytes.
const longestCharacter = 64

// boundary is the last place up to at where s can be cut.
func boundary(s string, at int) int {
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	for i := at; at-i <= longestCharacter; {
		if i == 0 {
			return 0
		}
		before, n := utf8.DecodeLastRuneInString(s[:i])
		next, _ := utf8.DecodeRuneInString(s[i:])
		if !together(before, next) && (!isFlag(next) || flags(s[:i])%2 == 0) {
			return i
		}
		i -= n
	}
	return at // nothing that anybody writes
}

// together reports whether two runes are part of one character, by what matters here of
// Unicode's rules for grapheme clusters (UAX 29). The whole of them would need tables; where they
// differ a text is cut one mark earlier or later, which nobody is misled by.
func together(before, next rune) bool {
	switch {
	case before == 0x200d && next > unicode.MaxASCII, before == '\r' && next == '\n':
		return true
	case next >= 0x1f3fb && next <= 0x1f3ff, next >= 0xe0020 && next <= 0xe007f: // tones of skin, tags
		return true
	case next >= 0x1160 && next <= 0x11ff: // Hangul vowels and finals
		return true
	}
	return unicode.Is(unicode.M, next) || isJoiner(next) || isSelector(next)
}

// isFlag: two of these are a flag. A run of them is cut between pairs, else every flag behind the
// place would be another country's.
func isFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// flags is how many halves of flags s ends with.
func flags(s string) int {
	n := 0
	for len(s) > 0 {
		r, size := utf8.DecodeLastRuneInString(s)
		if !isFlag(r) {
			break
		}
		s, n = s[:len(s)-size], n+1
	}
	return n
}

// at is how long the text of a place may be in served cards, and what becomes of a longer
// one: what people read is cut, and of what programs go by half is worth nothing.
func (l Limits) at(pointer string, isName bool) (limit int, action Action) {
	parts := strings.Split(pointer, "/")[1:]
	switch {
	case isName:
		return l.Name, actionRemoved
	case isList(parts):
		switch parts[len(parts)-2] {
		case "tags":
			return l.Name, actionCut
		case "examples":
			return l.Text, actionCut
		}
		return l.Name, actionRemoved
	case pointer == "/name" || pointer == "/version" || pointer == "/provider/organization":
		return l.Name, actionCut
	case pointer == "/description",
		len(parts) == 4 && parts[0] == "capabilities" && parts[1] == "extensions" && parts[3] == "description":
		return l.Text, actionCut
	case len(parts) == 3 && parts[0] == "skills":
		switch parts[2] {
		case "name":
			return l.Name, actionCut
		case "description":
			return l.Text, actionCut
		case "id":
			return l.Name, actionRemoved
		}
	}
	return l.Text, actionRemoved
}

// isList reports whether a place is in one of the lists whose entries are limited, in the names of
// either version: lint reads cards as agents write them.
func isList(parts []string) bool {
	switch len(parts) {
	case 2:
		return isModes(strings.TrimPrefix(strings.TrimPrefix(parts[0], "default_"), "default"))
	case 4:
		return parts[0] == "skills" && (parts[2] == "tags" || parts[2] == "examples" || isModes(parts[2]))
	}
	return false
}

func isModes(name string) bool {
	switch name {
	case "inputModes", "outputModes", "InputModes", "OutputModes", "input_modes", "output_modes":
		return true
	}
	return false
}
