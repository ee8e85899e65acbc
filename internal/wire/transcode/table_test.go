package transcode_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/transcode"
)

// TestUnknownTypes: a type of which the documents would be wrong is refused before there is a message.
func TestUnknownTypes(t *testing.T) {
	t.Parallel()
	for _, m := range []proto.Message{&anypb.Any{}, &durationpb.Duration{}, &wrapperspb.Int64Value{}, &descriptorpb.UninterpretedOption{}, &descriptorpb.SourceCodeInfo{}} {
		if _, err := (transcode.Table{}).Message(m.ProtoReflect().Descriptor()); err == nil || !strings.Contains(err.Error(), "not known") {
			t.Errorf("%s: %v", m.ProtoReflect().Descriptor().FullName(), err)
		}
	}
}

// TestWellKnown: documents of well-known types, and what has none.
func TestWellKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		of        proto.Message
		message   string
		want, err string
	}{
		{of: &timestamppb.Timestamp{}, message: "", want: `"1970-01-01T00:00:00Z"`},
		{of: &timestamppb.Timestamp{}, message: "\x08\x01\x10\xc0\x84\x3d", want: `"1970-01-01T00:00:01.001Z"`},
		{of: &timestamppb.Timestamp{}, message: "\x10\xe8\x07", want: `"1970-01-01T00:00:00.000001Z"`},
		{of: &timestamppb.Timestamp{}, message: "\x10\x01", want: `"1970-01-01T00:00:00.000000001Z"`},
		{of: &timestamppb.Timestamp{}, message: "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", err: "out of range"},
		{of: &timestamppb.Timestamp{}, message: "\x08\xff\xff\xff\xff\xff\xff\xff\x7f", err: "out of range"},
		{of: &structpb.Value{}, message: "", err: "no kind"},
		{of: &structpb.Value{}, message: "\x11\x00\x00\x00\x00\x00\x00\xf0\x7f", err: "a number that JSON has not"},
		{of: &structpb.Value{}, message: "\x08\x00", want: "null"},
		{of: &structpb.Value{}, message: "\x1a\x01\xff", err: "not UTF-8"},
		{of: &structpb.Value{}, message: "\x1a\x05a", err: "unexpected EOF"},
		{of: &structpb.Struct{}, message: "", want: "{}"},
		{of: &structpb.Struct{}, message: "\x0a\x02\x0a\x00", err: "no kind"}, // an entry without a value
		{of: &structpb.Struct{}, message: "\x0a\x07\x0a\x01a\x12\x02\x20\x00" + "\x0a\x07\x0a\x01a\x12\x02\x20\x01", want: `{"a":true}`},
		{of: &structpb.ListValue{}, message: "", want: "[]"},
	} {
		m, err := (transcode.Table{}).Message(tt.of.ProtoReflect().Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		doc, err := m.Append([]byte("x"), []byte(tt.message))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%x: %s, %v, want %s", tt.message, doc, err, tt.err)
			}
			continue
		}
		if err != nil || string(doc) != "x"+tt.want {
			t.Errorf("%x: %s, %v, want %s", tt.message, doc, err, tt.want)
		}
	}
}

// FuzzAppend: what nobody has checked is a document or an error.
func FuzzAppend(f *testing.F) {
	var types []*transcode.Message
	for _, d := range []protoreflect.MessageDescriptor{
		(&structpb.Value{}).ProtoReflect().Descriptor(), (&structpb.Struct{}).ProtoReflect().Descriptor(),
		(&timestamppb.Timestamp{}).ProtoReflect().Descriptor(),
	} {
		m, err := (transcode.Table{}).Message(d)
		if err != nil {
			f.Fatal(err)
		}
		types = append(types, m)
	}
	f.Add([]byte("\x0a\x07\x0a\x01a\x12\x02\x20\x00"))
	f.Add([]byte("\x1a\x01a"))
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, m := range types {
			if doc, err := m.Append(nil, message); err == nil && len(doc) == 0 {
				t.Errorf("nothing of %x", message)
			}
		}
	})
}
