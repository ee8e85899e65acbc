// Package transcode writes protobuf messages as ProtoJSON, from their bytes and without a message in
// between.
//
// It owns tables of message types, which are made once of their descriptors, and the JSON of what protobuf
// calls well-known types as far as A2A has them: Struct, Value, ListValue and Timestamp. It does not own
// whether a message is one that every parser reads alike: wire has checked that before. It imports
// nothing of ours.
//
//	0a 01 54   as GetTaskRequest   {"id":"T"}
//
// The documents are those of protojson, byte for byte, but for the space that it puts in by the toss of a
// coin, and for characters at which some readers of event streams end a line, which are escaped. What
// protojson does takes a message that is built by reflection, and twenty times as many allocations: it
// was most of what an event of a gRPC stream cost.
//
// See https://protobuf.dev/programming-guides/json/.
package transcode

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Message writes messages of one type. It may be used at once by many.
type Message struct {
	// byNumber has a field at its number, or nil.
	byNumber []*field
	// fields are in the order of their declaration, which is that of the document.
	fields []field
	// known writes a well-known type, which has a form of its own; else it is nil.
	known func(m *Message, dst, message []byte) ([]byte, error)
}

// field is one field of a message.
type field struct {
	index    int
	number   protowire.Number
	key      []byte // the name in JSON, with quotes and colon
	kind     protoreflect.Kind
	presence bool // whether a zero that was written is told from none
	list     bool
	of       *Message                          // of messages and map entries
	enum     protoreflect.EnumValueDescriptors // nil: numbers stay numbers
	entry    bool                              // of is the entry of a map
	null     bool                              // google.protobuf.NullValue
}

// mostFields is how many fields a type may have.
const mostFields = 32

// Append appends the document of a message. The error means that it is no message of the type, or that
// ProtoJSON has no form for what it holds, such as a Value without a kind.
func (m *Message) Append(dst, message []byte) ([]byte, error) {
	if m.known != nil {
		return m.known(m, dst, message)
	}
	found, err := m.find(message)
	if err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	begin := len(dst)
	for i := range m.fields {
		f := &m.fields[i]
		if found[i] == 0 {
			continue
		}
		before := len(dst)
		if before > begin {
			dst = append(dst, ',')
		}
		dst = append(dst, f.key...)
		from := message[found[i]-1:]
		var written bool
		if dst, written, err = f.append(dst, from); err != nil {
			return nil, fmt.Errorf("%s: %w", f.key[1:len(f.key)-2], err)
		}
		if !written {
			dst = dst[:before]
		}
	}
	return append(dst, '}'), nil
}

// find is where fields begin for the first time, with their tags: the offset and one, or 0 for a field
// that is not there. Unknown fields are passed over.
func (m *Message) find(message []byte) (found [mostFields]int32, err error) {
	for at := 0; at < len(message); {
		number, kind, n := protowire.ConsumeTag(message[at:])
		if n < 0 {
			return found, protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[at+n:])
		if size < 0 {
			return found, protowire.ParseError(size)
		}
		if f := m.field(number); f != nil && found[f.index] == 0 {
			found[f.index] = int32(at) + 1 //nolint:gosec // a message has 2 GiB at most
		}
		at += n + size
	}
	return found, nil
}

// field is the one of a number, nil for none.
func (m *Message) field(number protowire.Number) *field {
	if int(number) < len(m.byNumber) {
		return m.byNumber[number]
	}
	return nil
}

// append appends the value of a field, which from begins with. written is false for what a document
// leaves out: the zero of a field that has none of its own.
func (f *field) append(dst, from []byte) (out []byte, written bool, err error) {
	switch {
	case f.entry:
		out, err = f.appendMap(dst, from)
		return out, true, err
	case f.list:
		out, err = f.appendList(dst, from)
		return out, true, err
	}
	v, err := first(from)
	if err != nil {
		return nil, false, err
	}
	if !f.presence && f.isZero(v) {
		return dst, false, nil
	}
	out, err = f.appendValue(dst, v)
	return out, true, err
}

// appendList appends all values of a list, which are texts, bytes or messages.
func (f *field) appendList(dst, from []byte) ([]byte, error) {
	dst = append(dst, '[')
	begin := len(dst)
	err := f.each(from, func(b []byte) (err error) {
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		dst, err = f.appendValue(dst, value{bytes: b})
		return err
	})
	return append(dst, ']'), err
}

// each visits the values of a list or map, of which the first is where from begins.
func (f *field) each(from []byte, visit func(b []byte) error) error {
	for len(from) > 0 {
		number, kind, n := protowire.ConsumeTag(from)
		if n < 0 {
			return protowire.ParseError(n)
		}
		from = from[n:]
		size := protowire.ConsumeFieldValue(number, kind, from)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if number == f.number {
			b, n := protowire.ConsumeBytes(from)
			if n < 0 {
				return protowire.ParseError(n)
			}
			if err := visit(b); err != nil {
				return err
			}
		}
		from = from[size:]
	}
	return nil
}
