package signature

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// What Python's json module writes with sorted names, which is not RFC 8785: everything
// past ASCII is escaped, names are in the order of code points, not of UTF-16, and
// numbers are as Python has them.

// messageASCII is for a card that was a Protobuf message, whose numbers are doubles.
// An error means that the card has no such form: a number in it is none that a double can hold.
func messageASCII(v value) ([]byte, error) {
	if err := v.numbers(isDouble); err != nil {
		return nil, err
	}
	return appendASCII(nil, v, pythonDouble), nil
}

// legacyASCII is for a card that was read as JSON, where integers stay integers: Python has them of
// any size, so that only what is no finite number has no such form.
func legacyASCII(v value) ([]byte, error) {
	if err := v.numbers(isFinite); err != nil {
		return nil, err
	}
	return appendASCII(nil, v, pythonNumber), nil
}

// appendASCII writes a value with sorted members and without a character beyond ASCII, as json.dumps
// of Python does.
// number writes the numbers, which the two forms do differently.
func appendASCII(b []byte, v value, number func(string) string) []byte {
	switch v.kind {
	case '"':
		return appendEscaped(b, v.text)
	case '0':
		return append(b, number(v.text)...)
	case '[':
		b = append(b, '[')
		for i, e := range v.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendASCII(b, e, number)
		}
		return append(b, ']')
	case '{':
		sorted := slices.SortedFunc(slices.Values(v.members), func(a, b member) int {
			return strings.Compare(a.name, b.name) // UTF-8 sorts as code points do
		})
		b = append(b, '{')
		for i, m := range sorted {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendEscaped(b, m.name), ':')
			b = appendASCII(b, m.value, number)
		}
		return append(b, '}')
	}
	return v.append(b)
}

// appendEscaped writes a string in ASCII.
// A character beyond the Basic Multilingual Plane is written as two escapes, its UTF-16 surrogates.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
			b = append(b, '\\', `"\bfnrt`[i])
			continue
		}
		if r >= ' ' && r <= '~' {
			b = append(b, byte(r))
			continue
		}
		units := []rune{r}
		if high, low := utf16.EncodeRune(r); r > 0xffff {
			units = []rune{high, low}
		}
		for _, u := range units {
			b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
		}
	}
	return append(b, '"')
}

// pythonDouble is how a number of a Struct is written, all of which are doubles: params of
// extensions are the only numbers that the schema of a card has.
func pythonDouble(literal string) string {
	f, _ := strconv.ParseFloat(literal, 64) // finite, as was checked
	return pythonFloat(f)
}

// pythonNumber is how a number that was read as JSON is written.
// Python has one zero among its integers: -0 is read as 0.
func pythonNumber(literal string) string {
	if !strings.ContainsAny(literal, ".eE") {
		if literal == "-0" {
			return "0"
		}
		return literal
	}
	return pythonDouble(literal)
}

// pythonFloat is repr of a float: the shortest digits, an exponent below 1e-4 and from
// 1e16, and a fraction always.
func pythonFloat(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
