package transcode

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// value is one value as it is on the wire: a number, or the bytes of a text or message.
type value struct {
	number uint64
	bytes  []byte
}

// isZero reports whether a value is the zero of the field, of which 32 bits may count alone.
func (f *field) isZero(v value) bool {
	if f.kind == protoreflect.Int32Kind || f.kind == protoreflect.EnumKind {
		return int32(v.number) == 0 //nolint:gosec // cut as protobuf cuts it
	}
	return v.number == 0 && len(v.bytes) == 0
}

// consume reads a value and its length, which is negative where there is none.
func consume(kind protowire.Type, b []byte) (v value, n int) {
	switch kind {
	case protowire.VarintType:
		v.number, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		v.number, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		v.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = -1
	}
	return v, n
}

// appendValue appends one value.
func (f *field) appendValue(dst []byte, v value) ([]byte, error) {
	switch f.kind {
	case protoreflect.MessageKind:
		return f.of.Append(dst, v.bytes)
	case protoreflect.StringKind:
		return appendString(dst, v.bytes)
	case protoreflect.BytesKind:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.bytes)
		return append(dst, '"'), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(dst, protowire.DecodeBool(v.number)), nil
	case protoreflect.EnumKind:
		return f.appendEnum(dst, protoreflect.EnumNumber(v.number)), nil //nolint:gosec // cut as protobuf cuts it
	case protoreflect.DoubleKind:
		return appendDouble(dst, math.Float64frombits(v.number)), nil
	}
	return strconv.AppendInt(dst, int64(int32(v.number)), 10), nil //nolint:gosec // likewise, of an int32
}

// appendEnum appends the name of an enum's value, or the number where this version has no name for it.
func (f *field) appendEnum(dst []byte, n protoreflect.EnumNumber) []byte {
	if f.null {
		return append(dst, "null"...)
	}
	if named := f.enum.ByNumber(n); named != nil {
		dst = append(append(dst, '"'), named.Name()...)
		return append(dst, '"')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendDouble appends a number as JavaScript would write it, as encoding/json does; those that JSON has
// not are texts.
func appendDouble(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	}
	if size := math.Abs(x); x == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, x, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, x, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' { // e-09 is e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

var errNotUTF8 = errors.New("a text is not UTF-8")

// appendString appends a text. Escaped are what JSON does not hold, and what Python's splitlines ends
// a line at, with which the Python SDK's client reads event streams (WHATWG HTML §9.2.5 ends lines at CR and
// LF only): U+0085, U+2028, U+2029.
func appendString(dst, s []byte) ([]byte, error) {
	if !utf8.Valid(s) {
		return nil, errNotUTF8
	}
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if !special[s[i]] {
			i++
			continue
		}
		escaped, n := escape(s[i:])
		if escaped != "" {
			dst = append(append(dst, s[from:i]...), escaped...)
			from = i + n
		}
		i += n
	}
	return append(append(dst, s[from:]...), '"'), nil
}

// escape is how the special byte that s begins with is written, "" for as it is, and the length of what is
// written so.
func escape(s []byte) (escaped string, n int) {
	switch c := s[0]; {
	case c <= '\\':
		return controls[c], 1
	case c == 0xc2 && s[1] == 0x85:
		return `\u0085`, 2
	case c == 0xe2 && s[1] == 0x80 && s[2] == 0xa8:
		return `\u2028`, 3
	case c == 0xe2 && s[1] == 0x80 && s[2] == 0xa9:
		return `\u2029`, 3
	}
	return "", 1
}

// special are the bytes that what is escaped begins with.
var special = func() (list [256]bool) {
	for c := range byte(' ') {
		list[c] = true
	}
	list['"'], list['\\'], list[0xc2], list[0xe2] = true, true, true, true
	return list
}()

// controls are the escapes of ASCII.
var controls = func() (list ['\\' + 1]string) {
	const hex = "0123456789abcdef"
	for c := range byte(' ') {
		list[c] = `\u00` + string(hex[c>>4]) + string(hex[c&15])
	}
	list['\b'], list['\f'], list['\n'], list['\r'], list['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	list['"'], list['\\'] = `\"`, `\\`
	return list
}()
