package detect

import "strings"

// need is what a text has to have for a kind to be in it.
type need uint8

// The needs. A kind with several needs all of them.
const (
	needsDigits     need = 1 << iota // as many digits as the shortest number has
	needsAt                          // an @, or one that is encoded as in URLs
	needsRun                         // a run of characters as long as a key
	needsCredential                  // a run as long as a token, or an authority in a URL
	needsKeyMark                     // what ends the first line of a PEM key
	needsAddress                     // three dots or two colons, and a digit or a colon pair
)

// What the needs ask for at least.
const (
	fewestDigits  = 7
	shortestKey   = 14 // of the shortest prefix with what follows
	shortestToken = 4
)

// Classes of bytes, as bits of a table: one look-up per byte is all that most texts cost.
const (
	isDigitByte = 1 << iota
	isKeyByte   // API keys are made of these
	isAtByte
	isDotByte
	isColonByte
	isPercentByte
	isSchemeByte // the names of schemes begin with these
)

// classes are those of each byte.
var classes = classify()

func classify() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		if isDigit(c) {
			t[i] |= isDigitByte
		}
		if isAlnum(c) || c == '_' || c == '-' || c == '.' {
			t[i] |= isKeyByte
		}
	}
	t['@'] |= isAtByte
	t['.'] |= isDotByte
	t[':'] |= isColonByte
	t['%'] |= isPercentByte
	for _, c := range "bBdD" {
		t[c] |= isSchemeByte
	}
	return t
}

// widestGap is how many bytes may stand between two digits of one number.
const widestGap = 4

// traitsOf reads a text once.
func traitsOf(s string) (has need) {
	var any uint8
	dots, colons, run, longest := 0, 0, 0, 0
	digits, most, last := 0, 0, 0 // of the number at hand, of any, and where a digit was last
	for i := range len(s) {
		c := classes[s[i]]
		any |= c
		if run++; c&isKeyByte == 0 {
			longest = max(longest, run)
			run = 0
		}
		if c&(isDigitByte|isDotByte|isColonByte) == 0 {
			continue
		}
		switch {
		case c&isDotByte != 0:
			dots++
		case c&isColonByte != 0:
			colons++
		default:
			if i-last > widestGap {
				digits = 0
			}
			last = i
			digits++
			most = max(most, digits)
		}
	}
	longest = max(longest, run)
	if most >= fewestDigits {
		has |= needsDigits
	}
	if any&isAtByte != 0 || any&isPercentByte != 0 && strings.Contains(s, "%40") {
		has |= needsAt
	}
	if longest >= shortestKey {
		has |= needsRun
	}
	if longest >= shortestToken {
		has |= needsCredential
	}
	if strings.Contains(s, "PRIVATE KEY") {
		has |= needsKeyMark
	}
	if most > 3 && dots > 2 || colons > 1 {
		has |= needsAddress
	}
	return has
}

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
