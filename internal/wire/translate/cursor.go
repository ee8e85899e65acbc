package translate

import (
	"bytes"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// What is read here has been checked by package wire: it is valid JSON without
// duplicate names. So a value can be passed over by looking for its end only,
// which for a long string is one search for the closing quote. On anything else
// the functions are wrong but stay inside the document.

// members yields the members of an object: each name as it is written, without the
// quotes, and its value.
//
//	{"a":1,"b":{"c":2}}   yields a and 1, then b and {"c":2}
//
// The value is cut at its end in capacity too: who appends to it cannot write into the document.
func members(doc []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := next(doc, 1)
		for i < len(doc) && doc[i] == '"' {
			start := i + 1
			i = stringEnd(doc, i)
			if i <= start {
				return
			}
			name := doc[start : i-1]
			i = next(doc, i)
			start = i
			i = valueEnd(doc, i)
			if !yield(name, doc[start:i:i]) {
				return
			}
			i = next(doc, i)
		}
	}
}

// elements yields the elements of an array.
func elements(doc []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i := next(doc, 1)
		for i < len(doc) && doc[i] != ']' {
			start := i
			i = valueEnd(doc, i)
			if i == start || !yield(doc[start:i:i]) {
				return
			}
			i = next(doc, i)
		}
	}
}

// next passes over white space and what separates names and values.
//
// Commas and colons are passed over without a look at their order, which package wire has checked.
func next(doc []byte, i int) int {
	for i < len(doc) {
		switch doc[i] {
		case ' ', '\t', '\n', '\r', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// valueEnd returns where the value that begins at doc[i] ends.
//
//	{"a":[1,2]},"b"   ends behind the brace
//	-1.5e3,           ends before the comma
func valueEnd(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		switch doc[i] {
		case '"':
			i = stringEnd(doc, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ' ', '\t', '\n', '\r', ',', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			if depth > 0 {
				continue
			}
			for i < len(doc) && !delimits(doc[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(doc)
}

// delimits reports whether a byte ends a number or a literal.
func delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ',', ':', '}', ']':
		return true
	}
	return false
}

// stringEnd returns where the string that begins at doc[i] ends: behind the first
// quote that an even number of backslashes stands before.
//
//	"a\"b"    the quote behind the backslash is part of the text
//	"a\\"     two backslashes are one, and the quote behind them ends the string
func stringEnd(doc []byte, i int) int {
	i++
	for first := i; ; i++ {
		n := bytes.IndexByte(doc[i:], '"')
		if n < 0 {
			return len(doc)
		}
		i += n
		slashes := 0
		for i-slashes > first && doc[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// These look at the first byte only, which tells the type of a JSON value (RFC 8259 §3).
func isString(raw []byte) bool { return len(raw) > 1 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 1 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 1 && raw[0] == '[' }
func isNull(raw []byte) bool   { return len(raw) > 0 && raw[0] == 'n' }
func isTrue(raw []byte) bool   { return len(raw) > 0 && raw[0] == 't' }

// inside returns the characters of a string, whose escapes are rare.
func inside(raw []byte) []byte {
	if !isString(raw) {
		return nil
	}
	return unescaped(raw[1 : len(raw)-1])
}

// unescaped resolves escapes, which names and ids hardly ever have.
func unescaped(body []byte) []byte {
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	quoted := append(append([]byte{'"'}, body...), '"')
	text, _ := jsontext.AppendUnquote(nil, quoted) // valid, as all that is read here
	return text
}

// lookup returns the value of the first member of an object that has one of these
// names and is not null.
func lookup(doc []byte, names ...string) []byte {
	if !isObject(doc) {
		return nil
	}
	for name, value := range members(doc) {
		if isNull(value) {
			continue
		}
		if slices.Contains(names, string(unescaped(name))) {
			return value
		}
	}
	return nil
}

// has reports whether an object has a member of one of these names.
func has(doc []byte, names ...string) bool {
	for name := range members(doc) {
		if slices.Contains(names, string(unescaped(name))) {
			return true
		}
	}
	return false
}
