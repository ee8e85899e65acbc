package transcode

import (
	"errors"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wellKnown has the types whose documents are not objects of their fields.
var wellKnown = map[protoreflect.FullName]func(m *Message, dst, message []byte) ([]byte, error){
	"google.protobuf.Struct":    (*Message).appendStruct,
	"google.protobuf.ListValue": (*Message).appendListValue,
	"google.protobuf.Value":     (*Message).appendAny,
	"google.protobuf.Timestamp": (*Message).appendTimestamp,
}

// plainWellKnown are those of google.protobuf that are objects like all others.
var plainWellKnown = map[protoreflect.FullName]bool{
	"google.protobuf.Empty": true, "google.protobuf.Struct.FieldsEntry": true,
}

// appendStruct appends a JSON object.
func (m *Message) appendStruct(dst, message []byte) ([]byte, error) {
	found, err := m.find(message)
	if err != nil || found[0] == 0 {
		return append(dst, "{}"...), err
	}
	return m.fields[0].appendMap(dst, message[found[0]-1:])
}

// appendListValue appends a JSON array.
func (m *Message) appendListValue(dst, message []byte) ([]byte, error) {
	found, err := m.find(message)
	if err != nil || found[0] == 0 {
		return append(dst, "[]"...), err
	}
	return m.fields[0].appendList(dst, message[found[0]-1:])
}

var (
	errNoKind   = errors.New("google.protobuf.Value has no kind")
	errNoNumber = errors.New("google.protobuf.Value has a number that JSON has not")
	errNoTime   = errors.New("google.protobuf.Timestamp is out of range")
)

// appendAny appends any JSON value: the one field of a Value that is there, whose zero counts.
func (m *Message) appendAny(dst, message []byte) ([]byte, error) {
	found, err := m.find(message)
	if err != nil {
		return nil, err
	}
	for i := range m.fields {
		if found[i] == 0 {
			continue
		}
		v, err := first(message[found[i]-1:])
		if err != nil {
			return nil, err
		}
		f := &m.fields[i]
		if x := math.Float64frombits(v.number); f.kind == protoreflect.DoubleKind && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return nil, errNoNumber
		}
		return f.appendValue(dst, v)
	}
	return nil, errNoKind
}

// Seconds of years 1 and 9999, which is what RFC 3339 has.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// appendTimestamp appends a time in UTC with 0, 3, 6 or 9 digits behind the second.
func (m *Message) appendTimestamp(dst, message []byte) ([]byte, error) {
	found, err := m.find(message)
	if err != nil {
		return nil, err
	}
	var parts [2]int64
	for i := range parts {
		if found[i] == 0 {
			continue
		}
		v, err := first(message[found[i]-1:])
		if err != nil {
			return nil, err
		}
		parts[i] = int64(v.number) //nolint:gosec // negative numbers are written so
	}
	seconds, nanos := parts[0], int64(int32(parts[1])) //nolint:gosec // of 32 bits
	if seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos >= 1e9 {
		return nil, errNoTime
	}
	var buffer [len("2006-01-02T15:04:05.000000000")]byte
	text := string(time.Unix(seconds, nanos).UTC().AppendFormat(buffer[:0], "2006-01-02T15:04:05.000000000"))
	text = strings.TrimSuffix(strings.TrimSuffix(text, "000"), "000")
	dst = append(append(dst, '"'), strings.TrimSuffix(text, ".000")...)
	return append(dst, 'Z', '"'), nil
}
