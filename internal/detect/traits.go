package detect

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// need is what a text has to have for a kind to be in it.
type need uint8

// The needs. A kind with several needs all of them.
const (
	needsDigits     need = 1 << iota // as many digits as the shortest number has
	needsAt                          // an @, or one that is encoded as in URLs
	needsRun                         // a run of characters as long as a key
	needsCredential                  // the name of a scheme, the beginning of a JWT, or a URL
	needsKeyMark                     // what ends the first line of a PEM key
	needsAddress                     // three digits with a dot behind them, or two colons
)

// What the needs ask for at least.
const (
	fewestDigits = 7
	shortestKey  = 14 // of the shortest prefix with what follows
)

// Classes of bytes. Most texts are letters, of which one look-up each is all that they cost.
const (
	plainByte  = iota // API keys are made of these, and words; nothing begins with it
	breakByte         // ends a run of those
	digitByte         // part of a run
	dotByte           // likewise
	colonByte         // ends a run, as all that follow
	markByte          // an @, or the % of one that is encoded
	schemeByte        // part of a run: the names of schemes begin with these
	hyphenByte        // part of a run: PEM has five
)

// classes are those of each byte.
var classes = classify()

func classify() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case isDigit(c):
			t[i] = digitByte
		case strings.IndexByte("bBdD", c) >= 0:
			t[i] = schemeByte
		case isLetter(c), c == '_':
			t[i] = plainByte
		case c == '-':
			t[i] = hyphenByte
		case c == '.':
			t[i] = dotByte
		case c == ':':
			t[i] = colonByte
		case c == '@', c == '%':
			t[i] = markByte
		default:
			t[i] = breakByte
		}
	}
	return t
}

// widestGap is how many bytes may stand between two digits of one number.
const widestGap = 4

// traitsOf reads a text once.
func traitsOf(s string) (has need) {
	dots, colons, start, longest := 0, 0, 0, 0
	digits, most, last := 0, 0, 0 // of the number at hand, of any, and where a digit was last
	hyphens := false
	for i := 0; i < len(s); i++ {
		class := classes[s[i]]
		if class == plainByte {
			continue
		}
		switch class {
		case digitByte:
			if i-last > widestGap {
				digits = 0
			}
			last = i
			digits++
			most = max(most, digits)
			continue
		case schemeByte:
			if has&needsCredential == 0 && schemeAt(s, i) >= 0 {
				has |= needsCredential
			}
			continue
		case dotByte:
			if i > 0 && isDigit(s[i-1]) {
				dots++
			}
			continue
		case hyphenByte:
			hyphens = true
			continue
		case colonByte:
			colons++
		case markByte:
			if s[i] == '@' || strings.HasPrefix(s[i:], "%40") {
				has |= needsAt
			}
		}
		longest = max(longest, i-start)
		start = i + 1
	}
	longest = max(longest, len(s)-start)
	if most >= fewestDigits {
		has |= needsDigits
	}
	if longest >= shortestKey {
		has |= needsRun
	}
	if longest >= shortestJWT && strings.Contains(s, "eyJ") || colons > 0 && strings.Contains(s, "://") {
		has |= needsCredential
	}
	if hyphens && strings.Contains(s, lint.KeyMark) {
		has |= needsKeyMark
	}
	if most > 3 && dots > 2 || colons > 1 {
		has |= needsAddress
	}
	return has
}

// Traits is what one reading of a text tells of what can be in it. A text that is looked through by several
// sets is read once.
type Traits struct{ has need }

// Read reads a text.
func Read(text string) Traits { return Traits{traitsOf(text)} }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isWord takes every character that is not ASCII for a letter, as addresses and domains of other
// scripts have them (RFC 6531).
func isWord(c byte) bool { return isAlnum(c) || c == '_' || c >= 0x80 }

// inWord reports whether a number or code goes on with a byte. Other scripts have no spaces between
// words and numbers, so that their characters end one.
func inWord(c byte) bool { return isAlnum(c) || c == '_' }

// bounded reports whether a number or code that stands from begin to end is no part of a longer one.
func bounded(s string, begin, end int) bool {
	return (begin == 0 || !inWord(s[begin-1])) && (end == len(s) || !inWord(s[end]))
}
