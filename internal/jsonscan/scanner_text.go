package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads the string that is next; the caller has seen its Kind. The result
// is unescaped, valid UTF-8, and valid until Release: it is a piece of the
// document unless the string has escapes. Half of a surrogate pair fails, since the text
// is going to be compared or shown. After a failure it is nil.
func (s *Scanner) Text() []byte {
	if s.peek() != '"' {
		s.unexpected()
		return nil
	}
	start, end, escaped := s.str()
	if s.halved > start {
		s.failHalf()
	}
	if s.err != nil {
		return nil
	}
	if !escaped {
		return s.Doc[start+1 : end-1]
	}
	mark := len(s.arena)
	s.arena = unescape(s.arena, s.Doc[start+1:end-1])
	return s.arena[mark:]
}

// str reads over the string that begins at pos and returns where it stands,
// quotes included, and whether it holds escapes.
func (s *Scanner) str() (start, end int, escaped bool) {
	start = s.Pos
	s.Pos++
	if len(s.known) > 0 {
		if end = s.known.pass(s.Pos, len(s.Doc)); end > 0 {
			s.Pos = end
			return start, end, false
		}
	}
	for s.err == nil {
		s.Pos += plain(s.Doc[s.Pos:])
		if s.Pos >= len(s.Doc) {
			s.fail("a string does not end")
			break
		}
		switch c := s.Doc[s.Pos]; {
		case c == '"':
			s.Pos++
			if s.notes && !escaped && s.Pos-start > longString {
				s.long = append(s.long, Span{int32(start + 1), int32(s.Pos - 1)}) //nolint:gosec // bodies are bounded far below
			}
			return start, s.Pos, escaped
		case c == '\\':
			escaped = true
			s.escape()
		case c < ' ':
			s.fail("a control character in a string is not escaped")
		default:
			s.beyondASCII()
		}
	}
	return start, start, false
}

// plain returns how many bytes at the start of b are ordinary characters of a
// string: ASCII, no control, no quote, no backslash. This is where long file
// parts are read, eight bytes at a time.
//
// In a word whose bytes are all below 0x80, subtracting 0x21 from each byte
// after flipping bit 1 sets the top bit of exactly the bytes 0x00–0x1F and
// 0x22 (flipping swaps 0x22 with 0x20), and of some bytes above one of them;
// so the lowest top bit set is always a true one. The backslash is found
// likewise.
func plain(b []byte) int {
	const (
		ones  = 0x0101010101010101
		tops  = 0x8080808080808080
		flip  = 0x0202020202020202
		quote = 0x2121212121212121
		slash = '\\' * ones
	)
	n := 0
	for len(b)-n >= 32 {
		c := b[n : n+32 : n+32]
		w0 := binary.LittleEndian.Uint64(c)
		w1 := binary.LittleEndian.Uint64(c[8:])
		w2 := binary.LittleEndian.Uint64(c[16:])
		w3 := binary.LittleEndian.Uint64(c[24:])
		h0 := w0 | (w0 ^ flip - quote) | (w0 ^ slash - ones)
		h1 := w1 | (w1 ^ flip - quote) | (w1 ^ slash - ones)
		h2 := w2 | (w2 ^ flip - quote) | (w2 ^ slash - ones)
		h3 := w3 | (w3 ^ flip - quote) | (w3 ^ slash - ones)
		if h0 &= tops; h0 != 0 {
			return n + bits.TrailingZeros64(h0)/8
		}
		if (h1|h2|h3)&tops != 0 {
			n += 8
			break
		}
		n += 32
	}
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		if hit := (w | (w ^ flip - quote) | (w ^ slash - ones)) & tops; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// beyondASCII reads the run of multi-byte characters at pos. None of their bytes
// is ASCII, so the run ends where its last character does.
func (s *Scanner) beyondASCII() {
	end := s.Pos
	for end < len(s.Doc) && s.Doc[end] >= utf8.RuneSelf {
		end++
	}
	if !utf8.Valid(s.Doc[s.Pos:end]) {
		s.fail("invalid UTF-8")
		return
	}
	s.Pos = end
}

// escape reads the escape that begins at pos. A surrogate should be a high one
// followed by a low one: parsers replace, drop or keep half a pair as they like.
func (s *Scanner) escape() {
	rest := s.Doc[s.Pos:]
	if len(rest) >= 2 {
		switch rest[1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.Pos += 2
			return
		case 'u':
			r, ok := hex4(rest)
			if !ok {
				break
			}
			if !utf16.IsSurrogate(r) {
				s.Pos += 6
				return
			}
			low, ok := hex4(rest[6:])
			if ok && isPair(r, low) {
				s.Pos += 2 * halfEscape
				return
			}
			s.Pos += halfEscape
			s.halved = s.Pos
			return
		}
	}
	s.fail("invalid escape in a string")
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape appends the characters of a string whose escapes str has checked.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			i++
			continue
		}
		c := raw[i+1]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(raw[i:])
			i += 6
			if utf16.IsSurrogate(r) {
				low, _ := hex4(raw[i:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
		i += 2
	}
	return dst
}

// noRules are those of one string: it has no names.
var noRules Rules

// TextLength is how many bytes at the start of b are characters of a string, up to the quote
// that ends it or the end of b; below zero for one that is not written as it should be, or
// that has half a surrogate pair.
func TextLength(b []byte) int {
	n := plain(b)
	if n == len(b) || b[n] == '"' {
		return n
	}
	s := New(b, 1, 1, &noRules)
	defer s.Release()
	s.Pos = -1 // of the quote before
	if _, end, _ := s.str(); s.err == nil && s.halved == 0 {
		return end - 1
	}
	return -1
}
