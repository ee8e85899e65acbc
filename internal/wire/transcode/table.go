package transcode

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Table makes the messages of a protocol, of which many hold the same others.
// It is not for use at once by several.
type Table map[protoreflect.FullName]*Message

// Message is what writes messages of a type. The error means that the type has what no message of A2A has,
// such as numbers of 64 bits, or maps whose keys are numbers.
func (t Table) Message(d protoreflect.MessageDescriptor) (*Message, error) {
	if m := t[d.FullName()]; m != nil {
		return m, nil
	}
	m := &Message{known: wellKnown[d.FullName()]}
	if d.FullName().Parent() == "google.protobuf" && m.known == nil && !plainWellKnown[d.FullName()] {
		return nil, fmt.Errorf("ProtoJSON of %s: not known", d.FullName())
	}
	t[d.FullName()] = m // before its fields, which may be of the same type
	fields := d.Fields()
	if fields.Len() > mostFields {
		return nil, fmt.Errorf("ProtoJSON of %s: more than %d fields", d.FullName(), mostFields)
	}
	m.fields = make([]field, fields.Len())
	for i := range m.fields {
		f, err := t.field(fields.Get(i))
		if err != nil {
			return nil, err
		}
		m.fields[i] = f
		if n := int(f.number); n >= len(m.byNumber) {
			m.byNumber = append(m.byNumber, make([]*field, n+1-len(m.byNumber))...)
		}
		m.byNumber[f.number] = &m.fields[i]
	}
	return m, nil
}

// highestNumber bounds the numbers of fields, by which they are found.
const highestNumber = 1000

func (t Table) field(d protoreflect.FieldDescriptor) (f field, err error) {
	f = field{
		index: d.Index(), number: d.Number(), key: []byte(`"` + d.JSONName() + `":`), kind: d.Kind(),
		presence: d.HasPresence(), list: d.IsList(), entry: d.IsMap(),
	}
	unknown := fmt.Errorf("ProtoJSON of the field %s: not known", d.FullName())
	switch {
	case d.Number() > highestNumber, d.IsMap() && d.MapKey().Kind() != protoreflect.StringKind:
		return f, unknown
	}
	switch d.Kind() {
	case protoreflect.MessageKind:
		f.of, err = t.Message(d.Message())
		return f, err
	case protoreflect.StringKind, protoreflect.BytesKind:
		return f, nil
	case protoreflect.EnumKind:
		f.enum, f.null = d.Enum().Values(), d.Enum().FullName() == "google.protobuf.NullValue"
	case protoreflect.BoolKind, protoreflect.Int32Kind, protoreflect.DoubleKind:
	case protoreflect.Int64Kind:
		if d.ContainingMessage().FullName() != "google.protobuf.Timestamp" {
			return f, unknown
		}
	default:
		return f, unknown
	}
	if d.IsList() { // which would be packed
		return f, unknown
	}
	return f, nil
}
