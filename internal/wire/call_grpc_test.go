package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/a2apb"
	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// pb marshals a message as an SDK does.
func pb(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func selecting(skill string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{SkillSelection: structpb.NewStringValue(skill)}}
}

// TestByRPC has every RPC of the SDKs' services, and what is near one.
func TestByRPC(t *testing.T) {
	t.Parallel()
	services := map[Version]string{V10: "lf.a2a.v1.A2AService", V03: "a2a.v1.A2AService"}
	found := 0
	for _, m := range Methods() {
		for v, service := range services {
			path := m.RPC(v)
			if path == "" {
				continue
			}
			got, version, ok := ByRPC(path)
			if !ok || got == nil || got.Name != m.Name || version != v || !strings.HasPrefix(path, "/"+service+"/") {
				t.Errorf("%s: %v %s %t", path, got, version, ok)
			}
			if _, err := m.types(v); err != nil {
				t.Error(err)
			}
			found++
		}
		if m.RPC(V01) != "" {
			t.Errorf("0.1 has %s", m.RPC(V01))
		}
	}
	if want := len(a2apbv1.A2AService_ServiceDesc.Methods) + len(a2apbv1.A2AService_ServiceDesc.Streams) +
		len(a2apb.A2AService_ServiceDesc.Methods) + len(a2apb.A2AService_ServiceDesc.Streams) - 1; found != want {
		t.Errorf("%d RPCs, want %d: all but the ListTasks that only one SDK's 0.3 has", found, want)
	}
	for path, want := range map[string]Version{
		"/lf.a2a.v1.A2AService/TaskSubscription": V10,
		"/lf.a2a.v1.A2AService/sendMessage":      V10,
		"/lf.a2a.v1.A2AService/":                 V10,
		"/lf.a2a.v1.A2AService/SendMessage/":     V10,
		"/a2a.v1.A2AService/ListTasks":           V03,
		"/a2a.v1.A2AService/SubscribeToTask":     V03,
		"/a2a.v1.A2AService/SendMessage\x00":     V03,
	} {
		if m, v, ok := ByRPC(path); m != nil || v != want || !ok {
			t.Errorf("%s: %v %s %t", path, m, v, ok)
		}
	}
	for _, path := range []string{
		"", "/", "lf.a2a.v1.A2AService/SendMessage", "/lf.a2a.v1.A2AService", "/a2a.v1.a2aservice/SendMessage",
		"/x/a2a.v1.A2AService/SendMessage", "/grpc.health.v1.Health/Check",
	} {
		if m, v, ok := ByRPC(path); m != nil || v != "" || ok {
			t.Errorf("%s: %v %s %t", path, m, v, ok)
		}
	}
}

// TestDecodeGRPC has every request as an SDK writes it.
func TestDecodeGRPC(t *testing.T) {
	t.Parallel()
	const name03 = "tasks/t/pushNotificationConfigs/c"
	for _, tt := range []struct {
		path    string
		message proto.Message
		body    string
		want    Call
	}{
		{
			service10 + SendMessage,
			&a2apbv1.SendMessageRequest{
				Tenant: "acme", Metadata: selecting("s"),
				Message: &a2apbv1.Message{
					MessageId: "m", ContextId: "c", TaskId: "t", ReferenceTaskIds: []string{"r"}, Extensions: []string{"urn:x"},
					Parts: []*a2apbv1.Part{{Content: &a2apbv1.Part_Text{Text: "go on"}}}, Role: a2apbv1.Role_ROLE_USER,
				},
				Configuration: &a2apbv1.SendMessageConfiguration{
					TaskPushNotificationConfig: &a2apbv1.TaskPushNotificationConfig{Url: "u", Tenant: "acme"},
				},
			},
			`{"tenant":"acme","message":{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_USER","parts":[{"text":"go on"}],` +
				`"extensions":["urn:x"],"referenceTaskIds":["r"]},"configuration":{"taskPushNotificationConfig":{"tenant":"acme","url":"u"}},` +
				`"metadata":{"` + SkillSelection + `":"s"}}`,
			Call{
				Tenant: "acme", MessageID: "m", ContextID: "c", TaskID: "t", ReferenceTaskIDs: []string{"r"},
				MessageExtensions: []string{"urn:x"}, Skill: "s", HasPushConfig: true,
			},
		},
		{
			service03 + SendStreamingMessage,
			&a2apb.SendMessageRequest{
				Request: &a2apb.Message{
					MessageId: "m", ContextId: "c", TaskId: "t", Metadata: selecting("s"), ReferenceTaskIds: []string{"r"},
					Parts: []*a2apb.Part{{Part: &a2apb.Part_File{File: &a2apb.FilePart{
						File: &a2apb.FilePart_FileWithBytes{FileWithBytes: []byte("hey")}, MimeType: "text/plain", Name: "f",
					}}}},
				},
				Configuration: &a2apb.SendMessageConfiguration{PushNotification: &a2apb.PushNotificationConfig{Id: "c"}, Blocking: true},
			},
			`{"message":{"messageId":"m","contextId":"c","taskId":"t","content":[{"file":{"fileWithBytes":"aGV5","mimeType":"text/plain",` +
				`"name":"f"}}],"metadata":{"` + SkillSelection + `":"s"},"referenceTaskIds":["r"]},` +
				`"configuration":{"pushNotification":{"id":"c"},"blocking":true}}`,
			Call{
				Streaming: true, MessageID: "m", ContextID: "c", TaskID: "t", Skill: "s", ReferenceTaskIDs: []string{"r"},
				HasPushConfig: true,
			},
		},
		{
			service10 + GetTask, &a2apbv1.GetTaskRequest{Tenant: "a", Id: "t", HistoryLength: proto.Int32(0)},
			`{"tenant":"a","id":"t","historyLength":0}`, Call{Tenant: "a", TaskID: "t"},
		},
		{
			service03 + GetTask, &a2apb.GetTaskRequest{Name: "tasks/t", HistoryLength: 3},
			`{"name":"tasks/t","historyLength":3}`, Call{TaskID: "t"},
		},
		{
			service10 + ListTasks, &a2apbv1.ListTasksRequest{ContextId: "c", PageToken: "p", Status: a2apbv1.TaskState_TASK_STATE_WORKING},
			`{"contextId":"c","status":"TASK_STATE_WORKING","pageToken":"p"}`, Call{ContextID: "c", PageToken: "p"},
		},
		{
			service10 + CancelTask, &a2apbv1.CancelTaskRequest{Id: "t", Metadata: selecting("s")},
			`{"id":"t","metadata":{"` + SkillSelection + `":"s"}}`, Call{TaskID: "t", Skill: "s"},
		},
		{service03 + CancelTask, &a2apb.CancelTaskRequest{Name: "tasks/t"}, `{"name":"tasks/t"}`, Call{TaskID: "t"}},
		{service10 + SubscribeToTask, &a2apbv1.SubscribeToTaskRequest{Id: "t"}, `{"id":"t"}`, Call{TaskID: "t", Streaming: true}},
		{
			service03 + "TaskSubscription", &a2apb.TaskSubscriptionRequest{Name: "tasks/t"},
			`{"name":"tasks/t"}`, Call{TaskID: "t", Streaming: true},
		},
		{
			service10 + CreatePushConfig, &a2apbv1.TaskPushNotificationConfig{TaskId: "t", Id: "c", Url: "u"},
			`{"id":"c","taskId":"t","url":"u"}`, Call{TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			service03 + CreatePushConfig,
			&a2apb.CreateTaskPushNotificationConfigRequest{
				Parent: "tasks/t", ConfigId: "c", Config: &a2apb.TaskPushNotificationConfig{
					Name: name03, PushNotificationConfig: &a2apb.PushNotificationConfig{Id: "c", Url: "u"},
				},
			},
			`{"parent":"tasks/t","configId":"c","config":{"name":"` + name03 + `","pushNotificationConfig":{"id":"c","url":"u"}}}`,
			Call{TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			service10 + "GetTaskPushNotificationConfig", &a2apbv1.GetTaskPushNotificationConfigRequest{TaskId: "t", Id: "c"},
			`{"taskId":"t","id":"c"}`, Call{TaskID: "t", ConfigID: "c"},
		},
		{
			service03 + "GetTaskPushNotificationConfig", &a2apb.GetTaskPushNotificationConfigRequest{Name: name03},
			`{"name":"` + name03 + `"}`, Call{TaskID: "t", ConfigID: "c"},
		},
		{
			service10 + "ListTaskPushNotificationConfigs", &a2apbv1.ListTaskPushNotificationConfigsRequest{TaskId: "t", PageToken: "p"},
			`{"taskId":"t","pageToken":"p"}`, Call{TaskID: "t", PageToken: "p"},
		},
		{
			service03 + "ListTaskPushNotificationConfig", &a2apb.ListTaskPushNotificationConfigRequest{Parent: "tasks/t", PageSize: 2},
			`{"parent":"tasks/t","pageSize":2}`, Call{TaskID: "t"},
		},
		{
			service10 + "DeleteTaskPushNotificationConfig", &a2apbv1.DeleteTaskPushNotificationConfigRequest{TaskId: "t", Id: "c"},
			`{"taskId":"t","id":"c"}`, Call{TaskID: "t", ConfigID: "c"},
		},
		{
			service03 + "DeleteTaskPushNotificationConfig", &a2apb.DeleteTaskPushNotificationConfigRequest{Name: name03},
			`{"name":"` + name03 + `"}`, Call{TaskID: "t", ConfigID: "c"},
		},
		{service10 + GetExtendedAgentCard, &a2apbv1.GetExtendedAgentCardRequest{Tenant: "a"}, `{"tenant":"a"}`, Call{Tenant: "a"}},
		{service03 + "GetAgentCard", &a2apb.GetAgentCardRequest{}, `{}`, Call{}},
	} {
		t.Run(tt.path[1:], func(t *testing.T) {
			t.Parallel()
			m, v, _ := ByRPC(tt.path)
			message := pb(t, tt.message)
			for _, header := range []Version{"", v} {
				c := Call{Accept: "x", TaskID: "left over", Shared: true}
				if e := c.DecodeGRPC(m, v, message, header, Limits{}); e != nil {
					t.Fatal(e)
				}
				if c.Method != m || c.Binding != GRPC || c.ID != nil || !bytes.Equal(c.Message, message) {
					t.Errorf("method %s, binding %s, id %s, message %q", c.Method.Name, c.Binding, c.ID, c.Message)
				}
				if string(c.Body) != tt.body || string(c.Params) != tt.body {
					t.Errorf("document\n%s, want\n%s", c.Body, tt.body)
				}
				checkAccepted(t, &c)
				want := tt.want
				want.Version, want.Accept = v, "x"
				if diff := cmp.Diff(want, decoded(c), equateCalls); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// put writes a field by hand, for what no serializer writes.
func put(n protowire.Number, text string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), text))
}

// TestDecodeGRPCRefuses has one defect each.
func TestDecodeGRPCRefuses(t *testing.T) {
	t.Parallel()
	varint := func(n protowire.Number, x uint64) string {
		return string(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), x))
	}
	nested := put(3, "x")
	less := nested
	for i := range 100 {
		if i == 65 {
			less = nested
		}
		nested = put(5, put(1, put(1, "k")+put(2, nested))) // Value{Struct{fields{k: …}}}
	}
	long := strings.Repeat("x", 257)
	for name, tt := range map[string]struct {
		path, message string
		kind          *Kind
	}{
		"no message":                    {service10 + SendMessage, "", InvalidParams},
		"no task":                       {service10 + GetTask, "", InvalidParams},
		"no name":                       {service03 + GetTask, put(1, "tasks/"), InvalidParams},
		"slash in a task":               {service03 + GetTask, put(1, "mine/tasks/theirs"), InvalidParams},
		"two tasks in a name":           {service03 + GetTask, put(1, "tasks/mine/tasks/theirs"), InvalidParams},
		"slash in a config":             {service03 + "GetTaskPushNotificationConfig", put(1, "tasks/t/pushNotificationConfigs/c/x"), InvalidParams},
		"control character":             {service10 + GetTask, put(2, "a\nb"), InvalidParams},
		"long id":                       {service10 + GetTask, put(2, long), InvalidParams},
		"invalid UTF-8":                 {service10 + GetTask, put(2, "a\xffb"), InvalidRequest},
		"invalid UTF-8 in 0.3":          {service03 + GetTask, put(1, "tasks/a\xffb"), InvalidRequest},
		"surrogate":                     {service10 + GetTask, put(2, "a\xed\xa0\x80b"), InvalidRequest},
		"cut off":                       {service10 + GetTask, put(2, "abc")[:4], InvalidRequest},
		"not protobuf":                  {service10 + GetTask, `{"id":"t"}`, InvalidRequest},
		"field zero":                    {service10 + GetTask, "\x02\x00", InvalidRequest},
		"id twice":                      {service10 + GetTask, put(2, "a") + put(2, "b"), InvalidRequest},
		"id twice, second empty":        {service10 + GetTask, put(2, "a") + put(2, ""), InvalidRequest},
		"message twice":                 {service10 + SendMessage, put(2, put(3, "a")) + put(2, put(1, "m")), InvalidRequest},
		"message twice in 0.3":          {service03 + SendMessage, put(1, put(3, "a")) + put(1, put(3, "")), InvalidRequest},
		"task in message twice":         {service10 + SendMessage, put(2, put(3, "a")+put(3, "b")), InvalidRequest},
		"text and url":                  {service10 + SendMessage, put(2, put(5, put(1, "a")+put(3, "u"))), InvalidRequest},
		"id as a number":                {service10 + GetTask, varint(2, 7), InvalidRequest},
		"history as a string":           {service10 + GetTask, put(2, "t") + put(3, "7"), InvalidRequest},
		"value of no kind":              {service10 + CancelTask, put(2, "t") + put(3, put(1, put(1, "k")+put(2, ""))), InvalidRequest},
		"value deeper than JSON may be": {service10 + CancelTask, put(2, "t") + put(3, put(1, put(1, "k")+put(2, less))), parseError},
		"deep value":                    {service10 + CancelTask, put(2, "t") + put(3, put(1, put(1, "k")+put(2, nested))), InvalidRequest},
		"many parts":                    {service10 + SendMessage, put(2, strings.Repeat(put(5, ""), 10_001)), InvalidRequest},
		"more parts than allowed":       {service10 + SendMessage, put(2, strings.Repeat(put(5, ""), 1_001)), InvalidParams},
		"more than allowed":             {service10 + SendMessage, put(2, put(5, put(1, strings.Repeat("x", 4<<20)))), TooLarge},
		"push config of another":        {service10 + SendMessage, put(2, put(3, "t")) + put(3, put(2, put(3, "u"))), InvalidParams},
		"contradicting resource":        {service03 + CreatePushConfig, put(1, "tasks/t") + put(3, put(1, "tasks/u/pushNotificationConfigs/c")), InvalidParams},
		"contradicting config":          {service03 + CreatePushConfig, put(1, "tasks/t") + put(2, "c") + put(3, put(2, put(1, "d"))), InvalidParams},
		"skills that differ":            {service10 + SendMessage, put(2, put(6, skillField("a"))) + put(4, skillField("b")), InvalidParams},
		"reference that is nothing":     {service10 + SendMessage, put(2, put(8, "")), InvalidParams},
	} {
		m, v, ok := ByRPC(tt.path)
		if !ok || m == nil {
			t.Fatal(tt.path)
		}
		var c Call
		e := c.DecodeGRPC(m, v, []byte(tt.message), "", Limits{})
		if e == nil || e.Kind != tt.kind {
			t.Errorf("%s: %v, want %s", name, e, tt.kind.Reason)
		}
		if c.Binding != GRPC || c.Version != v || c.Method != m {
			t.Errorf("%s: cannot be answered in the caller's form", name)
		}
	}
	var c Call
	if e := c.DecodeGRPC(nil, V03, nil, "", Limits{}); e == nil || e.Kind != MethodNotFound || c.Version != V03 {
		t.Errorf("unknown RPC: %v", e)
	}
}

// skillField is a Struct with the skill selection.
func skillField(skill string) string {
	return put(1, put(1, SkillSelection)+put(2, put(3, skill)))
}

// TestDecodeGRPCManyMessages: a small body must not make millions of objects.
func TestDecodeGRPCManyMessages(t *testing.T) {
	t.Parallel()
	list := put(6, strings.Repeat(put(1, "\x20\x01"), 9_000)) // booleans
	value := put(6, strings.Repeat(put(1, list), 30))         // 30 such lists
	body := put(2, put(5, put(4, value)))
	m, v, _ := ByRPC(service10 + SendMessage)
	var c Call
	if e := c.DecodeGRPC(m, v, []byte(body), "", Limits{}); e == nil || e.Kind != InvalidRequest {
		t.Errorf("%d bytes: %v", len(body), e)
	}
}

// TestDecodeGRPCUnknownFields pass: they are in Message and nowhere else.
func TestDecodeGRPCUnknownFields(t *testing.T) {
	t.Parallel()
	body := put(2, "t") + put(99, "x") + put(99, "y") + string(protowire.AppendTag(nil, 98, protowire.Fixed32Type)) + "abcd"
	m, v, _ := ByRPC(service10 + GetTask)
	var c Call
	e := c.DecodeGRPC(m, v, []byte(body), "", Limits{})
	if e != nil || string(c.Body) != `{"id":"t"}` || string(c.Message) != body {
		t.Errorf("%v %s", e, c.Body)
	}
}
