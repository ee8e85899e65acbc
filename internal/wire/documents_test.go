package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"
)

// protojsonOf is what protojson makes of a message, without space, and with the escapes of documents.
func protojsonOf(t testing.TB, mt messageType, b []byte) ([]byte, error) {
	t.Helper()
	message := mt.New().Interface()
	if err := (proto.UnmarshalOptions{AllowPartial: true, DiscardUnknown: true}).Unmarshal(b, message); err != nil {
		return nil, err
	}
	doc, err := protojson.MarshalOptions{AllowPartial: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	var tight bytes.Buffer
	if err := json.Compact(&tight, doc); err != nil {
		t.Fatal(err)
	}
	escaped := strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(tight.String())
	return []byte(escaped), nil
}

// compareDocuments compares the document of a message with that of protojson, if it is one that is
// accepted at all.
func compareDocuments(t testing.TB, mt messageType, b []byte) {
	t.Helper()
	if checkMessage(mt.Descriptor(), b, Limits{}.withDefaults()) != nil {
		return
	}
	got, err := documentOf(mt, b, Limits{})
	want, wrong := protojsonOf(t, mt, b)
	if (err != nil) != (wrong != nil) {
		t.Fatalf("%s of %x: %v, and protojson %v", mt.Descriptor().FullName(), b, err, wrong)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%s of %x:\n%s\nand protojson\n%s", mt.Descriptor().FullName(), b, got, want)
	}
}

// everyType is all messages that documents are made of, by name.
func everyType(t testing.TB) []messageType {
	t.Helper()
	index, err := typesOf()
	if err != nil {
		t.Fatal(err)
	}
	var list []messageType
	for _, rpc := range index {
		list = append(list, rpc.request, rpc.response)
	}
	slices.SortFunc(list, func(a, b messageType) int {
		return strings.Compare(string(a.Descriptor().FullName()), string(b.Descriptor().FullName()))
	})
	return list
}

// TestDocumentsAsProtojson: a document is, byte for byte, what protojson makes of the message.
func TestDocumentsAsProtojson(t *testing.T) {
	t.Parallel()
	types := everyType(t)
	rapid.Check(t, func(r *rapid.T) {
		mt := rapid.SampledFrom(types).Draw(r, "type")
		message := generated(r, mt.Descriptor()).New()
		fill(r, message, 6)
		b, err := proto.Marshal(message.Interface())
		if err != nil {
			t.Fatal(err)
		}
		compareDocuments(t, mt, b)
	})
}

// FuzzDocuments: the same of any bytes, those that no serializer writes among them.
func FuzzDocuments(f *testing.F) {
	types := everyType(f)
	value := func(x any) []byte {
		v, err := structpb.NewValue(x)
		if err != nil {
			f.Fatal(err)
		}
		return pb(f, &a2apbv1.SendMessageRequest{Message: &a2apbv1.Message{MessageId: "m", Parts: []*a2apbv1.Part{{Content: &a2apbv1.Part_Data{Data: v}}}}})
	}
	for _, x := range []any{
		nil, true, "a\u2028\u0085\x00\x1f\"\\\b", 0.0, 1e21, 1e-7, -1.5e300, 1 << 53, []any{}, []any{nil, []any{1.0}}, map[string]any{},
		map[string]any{"b": 1, "a": map[string]any{"": []any{}}},
	} {
		f.Add(value(x))
	}
	f.Add(pb(f, &a2apbv1.StreamResponse{Payload: &a2apbv1.StreamResponse_StatusUpdate{StatusUpdate: &a2apbv1.TaskStatusUpdateEvent{
		TaskId: "t", Status: &a2apbv1.TaskStatus{State: a2apbv1.TaskState_TASK_STATE_WORKING, Timestamp: &timestamppb.Timestamp{Seconds: 1, Nanos: 1000}},
	}}}))
	f.Add(pb(f, &a2apbv1.AgentCard{Name: "n", SecuritySchemes: map[string]*a2apbv1.SecurityScheme{"b": nil, "a": {}}}))
	f.Add([]byte(put(1, put(1, "m")+put(1, "again"))))
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, mt := range types {
			compareDocuments(t, mt, message)
		}
	})
}
