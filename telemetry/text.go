package telemetry

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Limits of one value in a log line, span attribute or audit record, in bytes
// of the original text. MaxText is as long as the longest id the gateway lets
// through, so that an id is never cut; a cause may quote several of them.
const (
	MaxText  = 256
	maxCause = 1024
)

// cutMark stands before the number of bytes that were left out. A backslash is
// only ever followed by a backslash, x, u or U in cleaned text, so no client
// can write a mark of its own.
const cutMark = "…+"

// Clean makes text from outside safe to show to people and to line-based tools:
// the one sanitiser behind logs, spans and audit records, against log injection (CWE-117,
// CVE-2024-45808, CVE-2025-25294). What is not graphic in the sense of Unicode (control
// characters, line and paragraph separators, bidirectional overrides, invisible
// formatting) becomes \u202e, a byte that is not UTF-8 becomes \xff, a backslash
// is doubled, and everything past MaxText bytes becomes \…+N, N being the number
// of bytes left out. Up to the cut the original can be told from the result.
func Clean(s string) string { return clean(s, MaxText) }

// clean is Clean with a limit of its own. Text that is clean comes back as it is, without a copy.
func clean(s string, limit int) string {
	if len(s) <= limit && isPlain(s) {
		return s
	}
	return string(appendText(nil, s, limit, false))
}

// plain holds the bytes that stand for themselves both in cleaned text and
// inside a JSON string.
var plain = plainBytes()

// plainBytes makes the table once.
func plainBytes() (table [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}

// isPlain reports whether all of s is plain. It looks at sixteen bytes at a time and at the
// last ones together, some of which it may have seen before: most of what a log line costs
// is this look at every text in it.
func isPlain(s string) bool {
	if len(s) < 8 {
		return isPlainShort(s)
	}
	last := s[len(s)-8:]
	for ; len(s) > 16; s = s[16:] {
		if notPlain(eight(s))|notPlain(eight(s[8:])) != 0 {
			return false
		}
	}
	if len(s) > 8 && notPlain(eight(s)) != 0 {
		return false
	}
	return notPlain(eight(last)) == 0
}

// isPlainShort is isPlain for less than eight bytes.
func isPlainShort(s string) bool {
	if len(s) >= 4 {
		return notPlain(uint64(four(s))|uint64(four(s[len(s)-4:]))<<32) == 0
	}
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// four is the first four bytes of s, in one load.
func four(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// eight is the first eight bytes of s, in one load.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// notPlain is not zero if any byte of v is not in plain. Each term has the high bit of a
// byte set if that byte is out of range: above 0x7f; a delete; below a space; a quote or a
// backslash, which are zero after the exclusive or, so that the subtraction borrows. A carry
// or a borrow may spoil the byte above one that is not plain itself, never above another.
func notPlain(v uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	return (v | (v + ones) | (v - ' '*ones) | ((v ^ '"'*ones) - ones) | ((v ^ '\\'*ones) - ones)) & high
}

// appendText appends the cleaned form of s. With quoted it appends what stands
// between the quotes of a JSON string whose value is the cleaned form.
func appendText(dst []byte, s string, limit int, quoted bool) []byte {
	kept := cutAt(s, limit)
	done := 0 // s[:done] is in dst
	for i := 0; i < kept; {
		if plain[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:kept])
		if shows(r, size, quoted) {
			i += size
			continue
		}
		dst = append(dst, s[done:i]...)
		dst = appendEscape(dst, s[i:i+size], r, quoted)
		i += size
		done = i
	}
	dst = append(dst, s[done:kept]...)
	if kept == len(s) {
		return dst
	}
	dst = appendBackslash(dst, quoted)
	dst = append(dst, cutMark...)
	return strconv.AppendInt(dst, int64(len(s)-kept), 10)
}

// shows reports whether a rune outside plain may stay as it is.
func shows(r rune, size int, quoted bool) bool {
	switch {
	case r == '"':
		return !quoted
	case r == '\\', r == utf8.RuneError && size <= 1:
		return false
	}
	return unicode.IsGraphic(r)
}

// cutAt is the largest length up to limit that does not end inside a rune.
func cutAt(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	for back := range utf8.UTFMax {
		if utf8.RuneStart(s[limit-back]) {
			return limit - back
		}
	}
	return limit // not UTF-8 anyway
}

const hexDigits = "0123456789abcdef"

// appendEscape appends what stands in the place of a character that is not shown. quoted is whether it
// is inside a JSON string, where the backslash of the escape is one to be escaped itself.
func appendEscape(dst []byte, raw string, r rune, quoted bool) []byte {
	if r == '"' { // only with quoted: the JSON escape, not ours
		return append(dst, '\\', '"')
	}
	dst = appendBackslash(dst, quoted)
	switch {
	case r == '\\':
		return appendBackslash(dst, quoted)
	case len(raw) == 1: // a control character below 0x80, or a byte that is no UTF-8
		return append(dst, 'x', hexDigits[raw[0]>>4], hexDigits[raw[0]&15])
	case r < 0x10000:
		return appendHex(append(dst, 'u'), r, 12)
	default:
		return appendHex(append(dst, 'U'), r, 28)
	}
}

// appendHex appends the digits of a code point, from the one that shift leaves lowest.
func appendHex(dst []byte, r rune, shift int) []byte {
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[r>>shift&15])
	}
	return dst
}

// appendBackslash appends a backslash, as JSON has it where it is quoted.
func appendBackslash(dst []byte, quoted bool) []byte {
	if quoted {
		return append(dst, '\\', '\\')
	}
	return append(dst, '\\')
}
