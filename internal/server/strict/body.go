package strict

// mostDigits bounds a length: ten digits are more than any body that is accepted, and
// cannot overflow anywhere.
const mostDigits = 10

// spaceBehind is the state of a value after which spaces have come.
const spaceBehind = mostDigits + 1

// contentLength is a decimal number without sign, leading zeros or company. Tabs, which
// stand around other values, are written around this one for parsers to disagree about.
func (r *reader) contentLength(p []byte) (int, rule) {
	for i, c := range p {
		switch {
		case c == ' ' && r.prefix == 0:
		case c == ' ':
			r.prefix = spaceBehind
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

// transferEncoding is "chunked", in these letters. What else may be a coding is answered
// 501 (RFC 9112 §6.1).
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
		case c == '\r' && r.prefix == 0, c < ' ' && c != '\r', c >= 0x7f:
			return i, coding // none at all, or no name of one
		default:
			return i, otherCoding
		}
	}
	return len(p), kept
}

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
	default:
		r.trailers, r.size, r.state = true, 0, atField
		r.hosts, r.chunked, r.sized = 0, false, false
	}
	return 1, kept
}

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
