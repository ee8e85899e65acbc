package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/a2apb"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"
)

// generated is the SDK's type of a message.
func generated(t *rapid.T, d protoreflect.MessageDescriptor) protoreflect.MessageType {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return mt
}

// fill draws the fields of a message; deeper ones are more likely to be absent.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		m.Set(m.Descriptor().Fields().ByName("seconds"), protoreflect.ValueOfInt64(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds")))
		m.Set(m.Descriptor().Fields().ByName("nanos"), protoreflect.ValueOfInt32(rapid.Int32Range(0, 999_999_999).Draw(t, "nanos")))
		return
	case "google.protobuf.Value":
		// A value without a kind is not JSON.
		fields := m.Descriptor().Fields()
		last := fields.Len() - 1
		if depth <= 0 {
			last = 3 // null, number, string, bool
		}
		set(t, m, fields.Get(rapid.IntRange(0, last).Draw(t, "kind")), depth)
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if rapid.IntRange(0, 3).Draw(t, string(f.Name())) > 0 && (depth > 0 || f.Kind() != protoreflect.MessageKind) {
			set(t, m, f, depth)
		}
	}
}

func set(t *rapid.T, m protoreflect.Message, f protoreflect.FieldDescriptor, depth int) {
	switch {
	case f.IsMap():
		for range rapid.IntRange(0, 2).Draw(t, "entries") {
			key := protoreflect.ValueOfString(rapid.String().Draw(t, "key")).MapKey()
			value := m.Mutable(f).Map().NewValue()
			if f.MapValue().Kind() == protoreflect.MessageKind {
				fill(t, value.Message(), depth-1)
			} else {
				value = scalar(t, f.MapValue())
			}
			m.Mutable(f).Map().Set(key, value)
		}
	case f.IsList():
		for range rapid.IntRange(0, 2).Draw(t, "elements") {
			if f.Kind() == protoreflect.MessageKind {
				fill(t, m.Mutable(f).List().AppendMutable().Message(), depth-1)
			} else {
				m.Mutable(f).List().Append(scalar(t, f))
			}
		}
	case f.Kind() == protoreflect.MessageKind:
		fill(t, m.Mutable(f).Message(), depth-1)
	default:
		m.Set(f, scalar(t, f))
	}
}

func scalar(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.String().Draw(t, "string"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int"))
	case protoreflect.EnumKind:
		if f.Enum().FullName() == "google.protobuf.NullValue" {
			return protoreflect.ValueOfEnum(0)
		}
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.Int32Range(0, 12).Draw(t, "enum")))
	case protoreflect.DoubleKind:
		finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
		return protoreflect.ValueOfFloat64(rapid.Float64().Filter(finite).Draw(t, "number"))
	}
	t.Fatalf("a field of kind %s", f.Kind())
	return protoreflect.Value{}
}

// TestDocumentsRoundTrip: what goes from protobuf to JSON and back is equal, for
// every request and answer of both versions; the document is strict JSON without
// space.
func TestDocumentsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &methods[rapid.IntRange(0, len(methods)-1).Draw(t, "method")]
		v := rapid.SampledFrom([]Version{V10, V03}).Draw(t, "version")
		types, err := m.types(v)
		if m.RPC(v) == "" {
			if err == nil {
				t.Fatal("types of no RPC")
			}
			return
		}
		check := func(mt messageType, to func(*Method, Version, []byte) ([]byte, error)) {
			want := generated(t, mt.Descriptor()).New()
			fill(t, want, 6)
			message, err := proto.Marshal(want.Interface())
			if err != nil {
				t.Fatal(err)
			}
			doc, err := documentOf(mt, message, Limits{})
			if err != nil {
				t.Fatalf("%v: %v", want, err)
			}
			s := NewScanner(doc, Limits{})
			s.Skip()
			if e := Finish(s); e != nil {
				t.Fatalf("%s: %v", doc, e)
			}
			var tight bytes.Buffer
			if err := json.Compact(&tight, doc); err != nil || tight.Len() != len(doc) {
				t.Fatalf("%v, %d bytes of space in %s", err, len(doc)-tight.Len(), doc)
			}
			back, err := to(m, v, doc)
			if err != nil {
				t.Fatalf("%s: %v", doc, err)
			}
			got := generated(t, mt.Descriptor()).New().Interface()
			if err := proto.Unmarshal(back, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Interface(), got, protocmp.Transform()); diff != "" {
				t.Fatalf("%s: %s", doc, diff)
			}
		}
		check(types.request, RequestMessage)
		check(types.response, ResponseMessage)
	})
}

// TestDecodedBodyRoundTrip is the same through DecodeGRPC and ResponseJSON.
func TestDecodedBodyRoundTrip(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]proto.Message{
		service10 + SendMessage: &a2apbv1.SendMessageRequest{Message: &a2apbv1.Message{MessageId: "m", Parts: []*a2apbv1.Part{
			{Content: &a2apbv1.Part_Raw{Raw: []byte{0xff}}, MediaType: "a/b"}, {Content: &a2apbv1.Part_Text{}},
		}}},
		service03 + SendMessage: &a2apb.SendMessageRequest{Request: &a2apb.Message{MessageId: "m", Parts: []*a2apb.Part{
			{Part: &a2apb.Part_Data{Data: &a2apb.DataPart{Data: selecting("x")}}, Metadata: selecting("parts")},
		}}},
	} {
		m, v, _ := ByRPC(path)
		var c Call
		if e := c.DecodeGRPC(m, v, pb(t, want), "", Limits{}); e != nil {
			t.Fatal(e)
		}
		back, err := RequestMessage(m, v, c.Body)
		if err != nil {
			t.Fatal(err)
		}
		got := want.ProtoReflect().New().Interface()
		if err := proto.Unmarshal(back, got); err != nil || !proto.Equal(want, got) {
			t.Errorf("%s: %v %v", c.Body, err, got)
		}
	}
}

// TestMessagesFromDocuments: documents as people and other SDKs write them.
func TestMessagesFromDocuments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, doc string
		request   bool
		want      proto.Message
	}{
		{service10 + GetTask, ` `, true, &a2apbv1.GetTaskRequest{}},
		{service10 + GetTask, `null`, true, &a2apbv1.GetTaskRequest{}},
		{service10 + GetTask, `{"id":"t","future":{"a":1},"history_length":"3"}`, true, &a2apbv1.GetTaskRequest{Id: "t", HistoryLength: proto.Int32(3)}},
		{
			service03 + SendMessage, `{"request":{"message_id":"m","content":[{"text":"a"}],"role":1}}`, true,
			&a2apb.SendMessageRequest{Request: &a2apb.Message{
				MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Part: &a2apb.Part_Text{Text: "a"}}},
			}},
		},
		{
			service03 + SendMessage, `{"message":{"parts":[{"text":"a"}]}}`, true,
			&a2apb.SendMessageRequest{Request: &a2apb.Message{Parts: []*a2apb.Part{{Part: &a2apb.Part_Text{Text: "a"}}}}},
		},
		{
			service03 + SendMessage, `{"task":{"status":{"message":{"content":[{"text":"a"}]}},"artifacts":[{"parts":[{"text":"b"}]}]}}`, false,
			&a2apb.SendMessageResponse{Payload: &a2apb.SendMessageResponse_Task{Task: &a2apb.Task{
				Status:    &a2apb.TaskStatus{Update: &a2apb.Message{Parts: []*a2apb.Part{{Part: &a2apb.Part_Text{Text: "a"}}}}},
				Artifacts: []*a2apb.Artifact{{Parts: []*a2apb.Part{{Part: &a2apb.Part_Text{Text: "b"}}}}},
			}}},
		},
	} {
		m, v, _ := ByRPC(tt.path)
		to := ResponseMessage
		if tt.request {
			to = RequestMessage
		}
		b, err := to(m, v, []byte(tt.doc))
		got := tt.want.ProtoReflect().New().Interface()
		if err != nil || b == nil || proto.Unmarshal(b, got) != nil || !proto.Equal(tt.want, got) {
			t.Errorf("%s: %v %v", tt.doc, err, got)
		}
	}
	m, _, _ := ByRPC(service10 + GetTask)
	for _, doc := range []string{`[]`, `"x"`, `{`, `{"id":7}`, `{"id":"a","id":"b"}`, "{\"id\":\"\xff\"}"} {
		if b, err := RequestMessage(m, V10, []byte(doc)); err == nil {
			t.Errorf("%s: %q", doc, b)
		}
	}
	list, _ := ByName(V10, ListTasks)
	for _, err := range []error{
		second(RequestMessage(list, V03, nil)), second(ResponseMessage(list, V01, nil)), second(ResponseJSON(list, V03, nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), "has no RPC for ListTasks") {
			t.Error(err)
		}
	}
}

func second(_ []byte, err error) error { return err }

// TestMerging shows why a field that is given twice is refused: the Go parser
// merges, so that a later empty id hides an earlier one, where a parser that
// replaces or that merges without empty values would see it.
func TestMerging(t *testing.T) {
	t.Parallel()
	twice := []byte(put(2, put(1, "m")+put(3, "theirs")) + put(2, put(3, "")))
	var got a2apbv1.SendMessageRequest
	if err := proto.Unmarshal(twice, &got); err != nil {
		t.Fatal(err)
	}
	if got.GetMessage().GetTaskId() != "" || got.GetMessage().GetMessageId() != "m" {
		t.Errorf("%v", &got)
	}
	m, v, _ := ByRPC(service10 + SendMessage)
	var c Call
	if e := c.DecodeGRPC(m, v, twice, "", Limits{}); e == nil || e.Kind != InvalidRequest || c.Body != nil {
		t.Errorf("%v %s", e, c.Body)
	}
	stream, _ := ByName(V10, SendStreamingMessage)
	status := put(3, put(1, "t")) + put(3, put(1, "u"))
	if doc, err := ResponseJSON(stream, V10, []byte(status)); err == nil {
		t.Errorf("an answer: %s", doc)
	}
}

// A document from gRPC has no character in it at which a client might end a line of
// a stream of events.
func TestLineEndsAreEscaped(t *testing.T) {
	t.Parallel()
	get, _ := ByName(V10, GetTask)
	task, err := proto.Marshal(&a2apbv1.Task{Id: "a\u2028b\u2029c\u0085d é \u2027"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := ResponseJSON(get, V10, task)
	if want := `{"id":"a\u2028b\u2029c\u0085d é ` + "\u2027" + `"}`; err != nil || string(doc) != want {
		t.Errorf("%s, %v, want %s", doc, err, want)
	}
	back, err := ResponseMessage(get, V10, doc)
	if err != nil || !bytes.Equal(back, task) {
		t.Errorf("%q, %v, want %q", back, err, task)
	}
}

// TestReadAnswerGRPC: a document that came over gRPC reads as the body of HTTP+JSON
// does, and errors are none.
func TestReadAnswerGRPC(t *testing.T) {
	t.Parallel()
	_, cases := answerCases(t)
	compared := 0
	for _, c := range cases {
		if c.binding != HTTPJSON || c.version == V01 {
			continue
		}
		want, errHTTP := ReadAnswer(HTTPJSON, c.version, c.method, c.body, Limits{})
		got, errGRPC := ReadAnswer(GRPC, c.version, c.method, c.body, Limits{})
		if want.Error != 0 {
			if got.Error != 0 {
				t.Errorf("%s: an error on gRPC", c.name)
			}
			continue
		}
		compared++
		if diff := cmp.Diff(want, got); diff != "" || (errHTTP == nil) != (errGRPC == nil) {
			t.Errorf("%s: %v %v %s", c.name, errHTTP, errGRPC, diff)
		}
		if want.Kind == kindList {
			checkFiltered(t, GRPC, c.method, c.body, got)
		}
	}
	if compared < 20 {
		t.Errorf("only %d bodies", compared)
	}
}
