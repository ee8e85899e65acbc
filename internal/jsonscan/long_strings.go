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
	if s.err != nil || len(s.long) == 0 {
		return nil
	}
	return &LongStrings{s.Doc, s.long}
}

// Know has the scanner pass over strings that were found in its document before. Those of
// another document it does not take: a body that was changed is another one, even where it is
// as long. The document may be the beginning of that one.
func (s *Scanner) Know(l *LongStrings) {
	if n := len(s.Doc); l != nil && n > 0 && n <= len(l.doc) && &s.Doc[0] == &l.doc[0] {
		s.known = l.at
	}
}

// known are long strings of a document that is read again, first to last.
type known []Span

// pass is the end, behind the quote, of the string whose first character is at pos, and 0 where it
// is not known or does not end before the end of the document. Strings before pos are done with: a
// scanner that goes back reads them as any other does.
func (k *known) pass(pos, end int) int {
	for len(*k) > 0 && int((*k)[0].From) < pos {
		*k = (*k)[1:]
	}
	if len(*k) == 0 || int((*k)[0].From) != pos || int((*k)[0].To) >= end {
		return 0
	}
	return int((*k)[0].To) + 1
}
