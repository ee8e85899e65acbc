package strict

// mostDigits bounds a length: ten digits are more than any body that is accepted, and
// cannot overflow anywhere.
const mostDigits = 10

// spaceBehind is the state of a value after which spaces have come.
const spaceBehind = mostDigits + 1

// contentLength is a decimal number without sign, leading zeros or company. Tabs, which
// stand around other values, are written around this one for parsers to disagree about.
func (r *reader) contentLength(p []byte) (int, rule) {
	// Digits may come in several pieces: left has the number so far, prefix how many digits.
	for i, c := range p {
		switch {
		case c == ' ' && r.prefix == 0:
		case c == ' ':
			r.prefix = spaceBehind
		// A digit behind a leading 0 finds left 0 and prefix above 0: refused.
		case c >= '0' && c <= '9' && r.prefix < mostDigits && (r.prefix == 0 || r.left > 0):
			r.left = r.left*10 + int64(c-'0')
			r.prefix++
		case c == '\r' && r.prefix > 0:
			r.state = inFieldEnd
			return i + 1, kept
		default:
			return i, length
		}
	}
	return len(p), kept
}

const chunked = "chunked"

// transferEncoding is "chunked", in these letters. Anything else is read to its end and
// refused: there the field says with which status.
func (r *reader) transferEncoding(p []byte) (int, rule) {
	for i, c := range p {
		switch {
		case c == ' ' && r.prefix == 0:
		case c == ' ' && r.prefix >= len(chunked):
			r.prefix = spaceBehind
		case r.prefix < len(chunked) && c == chunked[r.prefix]:
			r.prefix++
		case c == '\r' && r.prefix >= len(chunked):
			r.state = inFieldEnd
			return i + 1, kept
		case c == '\n':
			return i, lineEnd
		case c < ' ', c >= 0x7f:
			return i, coding // none at all, a part of the name, or no name
		default:
			r.codings.begin(min(r.prefix, len(chunked)), r.prefix == spaceBehind)
			r.state = inCodings
			n, broken := r.transferCodings(p[i:])
			return i + n, broken
		}
	}
	return len(p), kept
}

// transferCodings reads what is more than "chunked". Where that is the last of all, and is
// there once, the end of the body would be known, and only the others are not: 501 (RFC
// 9112 §6.1). In all other cases nobody can say where the body ends: 400 (§6.3).
func (r *reader) transferCodings(p []byte) (int, rule) {
	for i, c := range p {
		switch {
		case c == '\n':
			return i, lineEnd
		case c == '\r' && r.codings.framed():
			return i, otherCoding
		case c < ' ', c >= 0x7f:
			return i, coding
		}
		r.codings.next(c)
	}
	return len(p), kept
}

// codings is what has been read of a list of transfer codings.
type codings struct {
	matched int8 // how much of "chunked" the element at hand is; negative where it is something else
	spaced  bool // spaces have come behind it
	others  bool // elements before it were names of codings
	broken  bool // it is no list of names, or chunked is not the last of it
}

// begin continues a list after so much of "chunked", and spaces.
func (l *codings) begin(matched int, spaced bool) {
	*l = codings{matched: int8(matched), spaced: spaced} //nolint:gosec // at most seven
}

// next reads a byte. Parameters and quotes make no list of names: whether a comma in them
// begins another coding is what parsers disagree about.
func (l *codings) next(c byte) {
	switch {
	case c == ' ':
		l.spaced = l.spaced || l.matched != 0
	case c == ',':
		l.broken = l.broken || l.matched == 0 || l.chunked()
		l.others, l.spaced, l.matched = true, false, 0
	case classes[c]&ofToken == 0 || l.spaced:
		l.broken = true
	case l.matched >= 0 && int(l.matched) < len(chunked) && c|0x20 == chunked[l.matched]:
		l.matched++
	default:
		l.matched = -1
	}
}

// chunked tells of the element at hand, in letters of any case.
func (l *codings) chunked() bool { return int(l.matched) == len(chunked) }

// framed reports whether all has been names of codings, and the last one is chunked.
func (l *codings) framed() bool { return l.others && !l.broken && l.chunked() }

// mostHex bounds the size of a chunk to 4 GiB.
const mostHex = 8

// chunkSize is a hexadecimal number. Extensions are refused: nobody sends them but those
// who hide something behind a semicolon.
func (r *reader) chunkSize(p []byte) (int, rule) {
	if r.state == atChunk {
		r.state, r.prefix, r.left = inChunkSize, 0, 0
	}
	for i, c := range p {
		digit, ok := hex(c)
		switch {
		case ok && r.prefix < mostHex:
			r.left = r.left<<4 | int64(digit)
			r.prefix++
		case c == '\r' && r.prefix > 0:
			r.state = inChunkSizeEnd
			return i + 1, kept
		// Spaces before the line end are read as part of an extension by some, and ignored by others.
		case c == ';', c == ' ', c == '\t':
			return i, chunkExtension
		default:
			return i, chunkSize
		}
	}
	return len(p), kept
}

// chunkBegins goes on to the data, or after a size of 0 to the trailers.
func (r *reader) chunkBegins(c byte) (int, rule) {
	switch {
	case c != '\n':
		return 0, chunkSize
	case r.left > 0:
		r.state = inChunk
	// Trailers are fields like those of a head, with a bound of their own.
	default:
		r.trailers, r.size, r.state = true, 0, atField
		r.hosts, r.chunked, r.sized = 0, false, false
	}
	return 1, kept
}

// hex is the value of a hexadecimal digit.
func hex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
