package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// manyMessages bounds the messages inside one message. Two bytes on the wire are
// enough for one, and a parser allocates a hundred for it.
const manyMessages = 200_000

// checkMessage walks over a protobuf message before anything is allocated for it,
// and holds it to what makes all parsers read it alike and makes it safe to read.
//
// A field that can be there once must not be there twice, nor two members of a
// oneof. The format's own rule is that messages merge and that the last scalar
// wins, but some parsers replace where others merge, and whether an empty value
// counts as given depends on how they merge: one would see a task id where another
// sees none. No serializer writes a field twice. Nor may a field have a wire type
// that is not its own, which is an unknown field for some and a value for others.
//
// Unknown fields pass: an agent of this version does not read them either.
func checkMessage(d protoreflect.MessageDescriptor, b []byte, lim Limits) error {
	// A level of a JSON value is three messages: Struct, its map entry, Value.
	c := messageCheck{depth: 3*lim.Depth + 16, members: lim.Members, messages: manyMessages}
	return c.message(d, b, 0)
}

// messageCheck is what is left of the limits.
type messageCheck struct{ depth, members, messages int }

var (
	errTooDeep     = errors.New("the message is nested too deeply")
	errTooMany     = errors.New("the message holds too many messages")
	errTooManyOf   = errors.New("a field is repeated too often")
	errTwice       = errors.New("a field is given twice")
	errNumber      = errors.New("a field has a number that no field can have")
	errOfOtherType = errors.New("a field has the wire type of another")
)

// message checks one message and those inside of it.
//
// protowire.ConsumeFieldValue checks lengths and the nesting of groups, and gives a negative number
// for what is no protobuf; nothing is read beyond the bytes of the message.
func (c *messageCheck) message(d protoreflect.MessageDescriptor, b []byte, depth int) error {
	if depth > c.depth {
		return errTooDeep
	}
	if c.messages--; c.messages < 0 {
		return errTooMany
	}
	var seen fieldsSeen
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if !number.IsValid() { // beyond 29 bits, which some parsers refuse
			return errNumber
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		value := b[n : n+size]
		b = b[n+size:]
		field := d.Fields().ByNumber(number)
		if field == nil {
			continue
		}
		if err := c.field(field, kind, value, &seen, depth); err != nil {
			return fmt.Errorf("field %q: %w", field.Name(), err)
		}
	}
	return nil
}

// field checks one field: its wire type, that it comes as often as it may, and the message it holds.
func (c *messageCheck) field(
	f protoreflect.FieldDescriptor, kind protowire.Type, value []byte, seen *fieldsSeen, depth int,
) error {
	packed := f.IsList() && kind == protowire.BytesType // A2A has no numbers to pack, so far
	if kind != wireType(f.Kind()) && !packed {
		return errOfOtherType
	}
	if err := seen.add(f, c.members); err != nil {
		return err
	}
	if f.Kind() != protoreflect.MessageKind {
		return nil
	}
	inner, n := protowire.ConsumeBytes(value)
	if n < 0 {
		return protowire.ParseError(n)
	}
	return c.message(f.Message(), inner, depth+1)
}

// fieldsSeen counts the fields of one message. Field numbers beyond the array are
// in no message of A2A; they share its last place.
type fieldsSeen struct {
	times  [32]int32
	oneofs uint32
}

// add counts a field, and refuses one that is there once too often. Map entries and elements of lists
// count like members of JSON objects.
func (s *fieldsSeen) add(f protoreflect.FieldDescriptor, members int) error {
	n := min(int(f.Number()), len(s.times)-1)
	s.times[n]++
	if f.IsList() || f.IsMap() {
		if int(s.times[n]) > members {
			return errTooManyOf
		}
		return nil
	}
	if s.times[n] > 1 {
		return errTwice
	}
	if o := f.ContainingOneof(); o != nil {
		if s.oneofs&(1<<o.Index()) != 0 {
			return errTwice
		}
		s.oneofs |= 1 << o.Index()
	}
	return nil
}

// wireType is how a kind of field is written. A2A has no fixed32 and no groups.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	}
	return protowire.VarintType
}
