package jsonscan

import "bytes"

// literal reads true, false or null. Kind has looked at the first byte only.
func (s *Scanner) literal(word string) {
	if !bytes.HasPrefix(s.Doc[s.Pos:], []byte(word)) {
		s.fail("unexpected character")
		return
	}
	s.Pos += len(word)
}

// number reads RFC 8259 §6: no plus, no leading zero, a digit on both sides of
// the point. How large or precise it is does not matter: its text is kept.
func (s *Scanner) number() {
	if s.Doc[s.Pos] == '-' {
		s.Pos++
	}
	if s.at('0') {
		s.Pos++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.Pos++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		s.Pos++
		if s.at('+') || s.at('-') {
			s.Pos++
		}
		s.digits()
	}
}

// at reports whether a character is next.
func (s *Scanner) at(c byte) bool { return s.Pos < len(s.Doc) && s.Doc[s.Pos] == c }

// digits reads at least one.
func (s *Scanner) digits() {
	first := s.Pos
	for s.Pos < len(s.Doc) && '0' <= s.Doc[s.Pos] && s.Doc[s.Pos] <= '9' {
		s.Pos++
	}
	if s.Pos == first {
		s.fail("a number lacks a digit")
	}
}
