package jsonscan

// longString is the length from which on a string is worth remembering. Files come as strings in
// base64, of megabytes, and a document that has one is read by everybody who judges files.
const longString = 4 << 10

// LongStrings are where the characters stand of a document's long strings without escapes, so
// that a second reading need not look at them.
type LongStrings struct {
	doc []byte
	at  []Span
}

// NoteLong has the scanner remember long strings, for Long.
func (s *Scanner) NoteLong() { s.notes = true }

// Long are the long strings that were read; nil for none, as where the document could not be read.
func (s *Scanner) Long() *LongStrings {
	if s.err != nil || len(s.long) == 0 || s.knows {
		return nil
	}
	return &LongStrings{s.Doc, s.long}
}

// Know has the scanner pass over strings that were found in its document before. Those of
// another document it does not take: a body that was changed is another one, even where it is
// as long. The document may be the beginning of that one.
func (s *Scanner) Know(l *LongStrings) {
	if n := len(s.Doc); l != nil && n > 0 && n <= len(l.doc) && &s.Doc[0] == &l.doc[0] {
		s.long, s.knows = l.at, true
	}
}

// jump passes over the string that Pos is in, where it is known. Strings before it are done with:
// a scanner that goes back reads them as any other does.
func (s *Scanner) jump() bool {
	for len(s.long) > 0 && int(s.long[0].From) < s.Pos {
		s.long = s.long[1:]
	}
	if len(s.long) == 0 || int(s.long[0].From) != s.Pos || int(s.long[0].To) >= len(s.Doc) {
		return false
	}
	s.Pos = int(s.long[0].To) + 1
	return true
}
