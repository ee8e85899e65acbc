package jsonscan

import (
	"bytes"
	"unicode/utf16"
)

// Half of a surrogate pair, escaped (\ud83d without its \ude00), is no character. Agents
// write one where they cut a text between the two, as those do that stream what a model
// says in pieces of so many UTF-16 units; clients in JavaScript and Python read it, put
// the pieces together and have the character. Most other parsers read U+FFFD, and some
// drop it or refuse the document.
//
// In content that is the business of both ends, and passes as it is where bytes do. Where
// the gateway itself reads or writes the text there is one reading, U+FFFD: see Mend. In
// names, and in ids, by which the gateway tells things apart, it stays refused: two that
// are different could become one.

// halfEscape is how long such an escape is, and that of U+FFFD.
const halfEscape = 6

// Mend gives a document with \ufffd in the place of every escape that is half a surrogate
// pair. It is doc itself where there is none, and a copy of its length else. The document
// must have been read, or be about to be.
func Mend(doc []byte) []byte {
	at := nextHalf(doc, 0)
	if at < 0 {
		return doc
	}
	doc = bytes.Clone(doc)
	mendFrom(doc, at)
	return doc
}

// MendHere is Mend for a document that nobody else has, whose pieces stay pieces of it.
func MendHere(doc []byte) {
	if at := nextHalf(doc, 0); at >= 0 {
		mendFrom(doc, at)
	}
}

// mendFrom mends in place, from the first half on. The replacement is as long as what it replaces, so
// that nothing behind it moves.
func mendFrom(doc []byte, at int) {
	for ; at >= 0; at = nextHalf(doc, at+halfEscape) {
		copy(doc[at:], `\ufffd`)
	}
}

// nextHalf finds the next one from an index that is not inside of an escape; -1 for none.
func nextHalf(doc []byte, from int) int {
	if rest := doc[from:]; !bytes.Contains(rest, []byte(`\ud`)) && !bytes.Contains(rest, []byte(`\uD`)) {
		return -1
	}
	for i := from; ; {
		n := bytes.IndexByte(doc[i:], '\\')
		if n < 0 {
			return -1
		}
		i += n
		r, ok := hex4(doc[i:])
		switch {
		case !ok:
			i = min(i+2, len(doc))
		case !utf16.IsSurrogate(r):
			i += halfEscape
		default:
			low, ok := hex4(doc[i+halfEscape:])
			if !ok || !isPair(r, low) {
				return i
			}
			i += 2 * halfEscape
		}
	}
}

// isPair reports whether two are one character.
func isPair(high, low rune) bool { return utf16.DecodeRune(high, low) != '\uFFFD' }

// half is called of a string that is only skipped, and has half a pair in it. It fails
// where the rules say that the innermost member that is being read tells things apart, and
// that no content is around it.
func (s *Scanner) half() {
	if s.rules.Identity == nil {
		return
	}
	var name []byte
	for i := range s.frames {
		names := s.names[s.frames[i].base:]
		if i+1 < len(s.frames) {
			names = s.names[s.frames[i].base:s.frames[i+1].base]
		}
		if len(names) == 0 {
			continue // an array
		}
		name = s.bytesOf(names[len(names)-1])
		if s.rules.Content != nil && s.rules.Content(name) {
			return
		}
	}
	if s.rules.Identity(name) {
		s.failHalf()
	}
}

// failHalf refuses the one that was read last.
func (s *Scanner) failHalf() {
	s.Pos = s.halved - halfEscape
	s.fail("a surrogate is not part of a pair")
}
