package translate

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// fillMessage sets every field of a message, of several alternatives the one that is
// the turn's.
func fillMessage(m protoreflect.Message, turn int) {
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		return
	case "google.protobuf.Struct", "google.protobuf.Value":
		field := m.Descriptor().Fields().Get(0)
		if field.IsMap() {
			m.Mutable(field).Map().Set(protoreflect.ValueOfString("k").MapKey(),
				protoreflect.ValueOfMessage(structpb.NewStringValue("v").ProtoReflect()))
			return
		}
		m.Set(m.Descriptor().Fields().ByName("string_value"), protoreflect.ValueOfString("v"))
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		one := f.ContainingOneof()
		switch {
		case one != nil && !one.IsSynthetic() && one.Fields().Get(turn%one.Fields().Len()) != f:
		case f.IsMap():
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			fillMessage(m.Mutable(f).List().AppendMutable().Message(), turn)
		case f.IsList():
			m.Mutable(f).List().Append(protoreflect.ValueOfString("x"))
		case f.Kind() == protoreflect.MessageKind:
			fillMessage(m.Mutable(f).Message(), turn)
		case f.Kind() == protoreflect.EnumKind:
			m.Set(f, protoreflect.ValueOfEnum(f.Enum().Values().Get(turn%f.Enum().Values().Len()).Number()))
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString("x"))
		case f.Kind() == protoreflect.BytesKind:
			m.Set(f, protoreflect.ValueOfBytes([]byte("x")))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(true))
		default:
			m.Set(f, protoreflect.ValueOfInt32(1))
		}
	}
}

// turns is at least the number of values of any enum and any alternatives.
const turns = 9

// TestStrangersInProtos: every field of the messages of both protos is known, under
// both of its names, and every value of its enums by name and number.
func TestStrangersInProtos(t *testing.T) {
	t.Parallel()
	files := map[wire.Version]protoreflect.FileDescriptor{wire.V10: a2apbv1.File_a2av1_proto, wire.V03: a2apb.File_a2a_proto}
	printers := []protojson.MarshalOptions{{}, {UseProtoNames: true}, {UseEnumNumbers: true}, {EmitUnpopulated: true}}
	for _, side := range []wire.Side{http10, grpc10, http03, grpc03} {
		rpcs := files[side.Version].Services().Get(0).Methods()
		for i := range wire.Methods() {
			m := &wire.Methods()[i]
			_, name, _ := strings.Cut(strings.TrimPrefix(m.RPC(side.Version), "/"), "/")
			rpc := rpcs.ByName(protoreflect.Name(name))
			if rpc == nil {
				if side.Version == wire.V10 {
					t.Errorf("1.0 has no %s", m.Name)
				}
				continue
			}
			for turn := range turns * len(printers) {
				for answer, d := range map[bool]protoreflect.MessageDescriptor{false: rpc.Input(), true: rpc.Output()} {
					mt, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
					if err != nil {
						t.Fatal(err)
					}
					message := mt.New()
					fillMessage(message, turn/len(printers))
					doc, err := printers[turn%len(printers)].Marshal(message.Interface())
					if err != nil {
						t.Fatal(err)
					}
					if got := Strangers(side, m, answer, doc); got != nil {
						t.Errorf("%v %s: %s in %s", side, m.Name, told(got), doc)
					}
				}
			}
		}
	}
}

// alternatives are what stands behind the interfaces of the SDKs' types.
var alternatives = map[reflect.Type][]any{
	reflect.TypeFor[legacy.Part](): {
		legacy.TextPart{Text: "x", Metadata: map[string]any{"k": 1}},
		legacy.DataPart{Data: map[string]any{"k": 1}, Metadata: map[string]any{"k": 1}},
		legacy.FilePart{File: legacy.FileBytes{FileMeta: legacy.FileMeta{MimeType: "m", Name: "n"}, Bytes: "AA=="}},
		legacy.FilePart{File: legacy.FileURI{FileMeta: legacy.FileMeta{MimeType: "m", Name: "n"}, URI: "u"}},
	},
	reflect.TypeFor[a2a.PartContent](): {a2a.Text("x"), a2a.Raw("x"), a2a.URL("u"), a2a.Data{Value: map[string]any{"k": 1}}},
	reflect.TypeFor[a2a.Event]():       {&a2a.Task{}, &a2a.Message{}, &a2a.TaskStatusUpdateEvent{}, &a2a.TaskArtifactUpdateEvent{}},
	reflect.TypeFor[any]():             {"x"},
}

// enums are the values of the SDKs' types of strings.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[legacy.MessageRole](): {"user", "agent"},
	reflect.TypeFor[legacy.TaskState](): {"submitted", "working", "completed", "failed", "canceled", "input-required",
		"rejected", "auth-required", "unknown"},
	reflect.TypeFor[a2a.MessageRole](): {string(a2a.MessageRoleUser), string(a2a.MessageRoleAgent)},
	reflect.TypeFor[a2a.TaskState](): {string(a2a.TaskStateSubmitted), string(a2a.TaskStateWorking), string(a2a.TaskStateCompleted),
		string(a2a.TaskStateFailed), string(a2a.TaskStateCanceled), string(a2a.TaskStateInputRequired), string(a2a.TaskStateRejected),
		string(a2a.TaskStateAuthRequired), string(a2a.TaskStateUnspecified)},
}

// fillValue is fillMessage for Go's types.
func fillValue(v reflect.Value, turn int) {
	if values, ok := enums[v.Type()]; ok {
		v.SetString(values[turn%len(values)])
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		list := alternatives[v.Type()]
		one := reflect.ValueOf(list[turn%len(list)])
		if one.Kind() == reflect.Pointer {
			one = reflect.New(one.Type().Elem())
			fillValue(one.Elem(), turn/len(list))
		}
		v.Set(one)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), turn)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillValue(v.Field(i), turn)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(v.Index(0), turn)
		fillValue(v.Index(1), turn+1)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"k": map[string]any{"x": turn}}))
	case reflect.String:
		v.SetString("x" + strconv.Itoa(turn))
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.SetInt(1)
	}
}

// TestStrangersInSDKs: whatever a2a-go's types can say in JSON is known.
func TestStrangersInSDKs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		side   wire.Side
		method string
		params any // pointers
		answer []any
	}{
		{rpc10, wire.SendMessage, new(a2a.SendMessageRequest), []any{new(a2a.StreamResponse)}},
		{rpc10, wire.SendStreamingMessage, new(a2a.SendMessageRequest), []any{new(a2a.StreamResponse)}},
		{rpc10, wire.GetTask, new(a2a.GetTaskRequest), []any{new(a2a.Task)}},
		{rpc10, wire.ListTasks, new(a2a.ListTasksRequest), []any{new(a2a.ListTasksResponse)}},
		{rpc10, wire.CancelTask, new(a2a.CancelTaskRequest), []any{new(a2a.Task)}},
		{rpc10, wire.SubscribeToTask, new(a2a.SubscribeToTaskRequest), []any{new(a2a.StreamResponse)}},
		{rpc10, createConfig, new(a2a.PushConfig), []any{new(a2a.PushConfig)}},
		{rpc10, getConfig, new(a2a.GetTaskPushConfigRequest), []any{new(a2a.PushConfig)}},
		{rpc10, listConfigs, new(a2a.ListTaskPushConfigRequest), []any{new(a2a.ListTaskPushConfigResponse)}},
		{rpc10, deleteConfig, new(a2a.DeleteTaskPushConfigRequest), nil},
		{rpc10, wire.GetExtendedAgentCard, new(a2a.GetExtendedAgentCardRequest), nil},
		{rpc03, wire.SendMessage, new(legacy.MessageSendParams), []any{new(legacy.Task), new(legacy.Message)}},
		{rpc03, wire.SendStreamingMessage, new(legacy.MessageSendParams), []any{
			new(legacy.Task), new(legacy.Message), new(legacy.TaskStatusUpdateEvent), new(legacy.TaskArtifactUpdateEvent),
		}},
		{rpc03, wire.GetTask, new(legacy.TaskQueryParams), []any{new(legacy.Task)}},
		{rpc03, wire.CancelTask, new(legacy.TaskIDParams), []any{new(legacy.Task)}},
		{rpc03, wire.SubscribeToTask, new(legacy.TaskIDParams), []any{new(legacy.TaskStatusUpdateEvent)}},
		{rpc03, createConfig, new(legacy.TaskPushConfig), []any{new(legacy.TaskPushConfig)}},
		{rpc03, getConfig, new(legacy.GetTaskPushConfigParams), []any{new(legacy.TaskPushConfig)}},
		{rpc03, listConfigs, new(legacy.ListTaskPushConfigParams), []any{new([]*legacy.TaskPushConfig)}},
		{rpc03, deleteConfig, new(legacy.DeleteTaskPushConfigParams), nil},
	} {
		t.Run(tt.side.String()+"/"+tt.method, func(t *testing.T) {
			t.Parallel()
			for i, value := range append([]any{tt.params}, tt.answer...) {
				for turn := range 4 * turns {
					fillValue(reflect.ValueOf(value).Elem(), turn)
					doc, err := json.Marshal(value)
					if err != nil {
						t.Fatal(err)
					}
					if got := Strangers(tt.side, methodNamed(tt.method), i > 0, doc); got != nil {
						t.Errorf("%s in %s", told(got), doc)
					}
				}
			}
		})
	}
}
