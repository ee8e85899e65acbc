package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// decoded is what the tests compare: a Call without what is the same as the input.
func decoded(c Call) Call {
	c.Body, c.Params, c.ID, c.Message = nil, nil, nil, nil
	c.Method, c.ContextSpan, c.TenantSpans = nil, [2]int{}, nil
	c.MayCarry, c.MayFile = false, false // TestMayCarry's, and TestMayFile's
	return c
}

var equateCalls = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Call{}, "Binding"), cmp.AllowUnexported(Call{})}

// rpc wraps params in an envelope.
func rpc(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
}

// TestDecodeJSONRPC has a request as each kind of client writes it.
func TestDecodeJSONRPC(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		header     Version
		method     string
		want       Call
	}{
		{
			name: "Go 1.0 send with params before id",
			body: `{"jsonrpc":"2.0","method":"SendMessage","params":{"tenant":"acme","message":{"messageId":"m",` +
				`"contextId":"c","taskId":"t","parts":[{"text":"go"}],"role":"ROLE_USER",` +
				`"referenceTaskIds":["r1","r2"],"extensions":["https://x.example/v1"]}},"id":"u"}`,
			header: V10, method: SendMessage,
			want: Call{
				Version: V10, Tenant: "acme", MessageID: "m", ContextID: "c", TaskID: "t",
				ReferenceTaskIDs: []string{"r1", "r2"}, MessageExtensions: []string{"https://x.example/v1"},
			},
		},
		{
			name: "JS 1.0 stream with empty configuration",
			body: rpc("SendStreamingMessage", `{"message":{"messageId":"m","parts":[]},"configuration":{}}`),
			want: Call{Version: V10, Streaming: true, MessageID: "m"}, method: SendStreamingMessage,
		},
		{
			name: "0.3 send with inline push config",
			body: rpc("message/send", `{"configuration":{"blocking":true,"pushNotificationConfig":{"id":"p","url":"u"}},`+
				`"message":{"kind":"message","messageId":"m","parts":[{"kind":"text","text":"go"}]}}`),
			header: V03, method: SendMessage,
			want: Call{Version: V03, MessageID: "m", HasPushConfig: true},
		},
		{
			name: "1.0 send with inline push config for its own task",
			body: rpc("SendMessage", `{"configuration":{"taskPushNotificationConfig":{"taskId":"t","tenant":"a","url":"u"}},`+
				`"tenant":"a","message":{"taskId":"t"}}`),
			method: SendMessage, want: Call{Version: V10, TaskID: "t", Tenant: "a", HasPushConfig: true},
		},
		{
			name: "null is absent",
			body: rpc("message/send", `{"configuration":{"pushNotificationConfig":null},"metadata":null,`+
				`"message":{"taskId":null,"contextId":null,"referenceTaskIds":null,"parts":null,"extensions":null}}`),
			method: SendMessage, want: Call{Version: V03},
		},
		{
			name: "0.1 send with the client's task id",
			body: rpc("tasks/send", `{"id":"t","sessionId":"s","message":{"role":"user","parts":[]},`+
				`"pushNotification":{"url":"u"},"historyLength":3}`),
			method: SendMessage, want: Call{Version: V01, TaskID: "t", ContextID: "s", HasPushConfig: true},
		},
		{
			name: "0.1 get by header", body: rpc("tasks/get", `{"id":"t"}`), header: V01,
			method: GetTask, want: Call{Version: V01, TaskID: "t"},
		},
		{
			name: "0.3 get without header", body: rpc("tasks/get", `{"id":"t","historyLength":1}`),
			method: GetTask, want: Call{Version: V03, TaskID: "t", Shared: true},
		},
		{
			name: "0.1 resubscribe by historyLength", body: rpc("tasks/resubscribe", `{"id":"t","historyLength":1}`),
			method: SubscribeToTask, want: Call{Version: V01, TaskID: "t", Streaming: true},
		},
		{
			name: "0.3 resubscribe by header", body: rpc("tasks/resubscribe", `{"id":"t","historyLength":1}`),
			header: V03, method: SubscribeToTask, want: Call{Version: V03, TaskID: "t", Streaming: true},
		},
		{
			name:   "skill selection in params and message",
			method: SendMessage, want: Call{Version: V10, Skill: "translate"},
			body: rpc("SendMessage", `{"metadata":{"`+SkillSelection+`":"translate","other":{"a":[1]}},`+
				`"message":{"metadata":{"`+SkillSelection+`":"transl\u0061te"}}}`),
		},
		{
			name: "1.0 list", body: rpc("ListTasks", `{"contextId":"c","pageToken":"p","pageSize":10}`),
			method: ListTasks, want: Call{Version: V10, ContextID: "c", PageToken: "p"},
		},
		{
			name: "1.0 list without params", body: `{"jsonrpc":"2.0","id":7,"method":"ListTasks"}`,
			method: ListTasks, want: Call{Version: V10},
		},
		{
			name: "1.0 push create", body: rpc(CreatePushConfig, `{"taskId":"t","id":"c","url":"u"}`),
			method: CreatePushConfig, want: Call{Version: V10, TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			name:   "release candidate push create",
			body:   rpc(CreatePushConfig, `{"config":{"id":"c","url":"u"},"configId":"c","taskId":"t"}`),
			method: CreatePushConfig, want: Call{Version: V10, TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			name:   "0.3 push set",
			body:   rpc("tasks/pushNotificationConfig/set", `{"pushNotificationConfig":{"id":"c","url":"u"},"taskId":"t"}`),
			method: CreatePushConfig, want: Call{Version: V03, TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			name:   "0.3 push get, whose id is the task",
			body:   rpc("tasks/pushNotificationConfig/get", `{"id":"t","pushNotificationConfigId":"c"}`),
			method: "GetTaskPushNotificationConfig", want: Call{Version: V03, TaskID: "t", ConfigID: "c"},
		},
		{
			name: "0.1 push get", body: rpc("tasks/pushNotification/get", `{"id":"t"}`),
			method: "GetTaskPushNotificationConfig", want: Call{Version: V01, TaskID: "t"},
		},
		{
			name:   "extended card with null params",
			body:   rpc("agent/getAuthenticatedExtendedCard", `null`),
			method: GetExtendedAgentCard, want: Call{Version: V03},
		},
		{
			name:   "extended card under its misprinted name",
			body:   rpc("agent/authenticatedExtendedCard", `{}`),
			method: GetExtendedAgentCard, want: Call{Version: V03},
		},
		{
			name:   "snake case, as Python's compatibility client writes",
			body:   rpc("SendMessage", `{"message":{"message_id":"m","context_id":"c","task_id":"t","reference_task_ids":["r"]}}`),
			method: SendMessage,
			want:   Call{Version: V10, MessageID: "m", ContextID: "c", TaskID: "t", ReferenceTaskIDs: []string{"r"}},
		},
		{
			name:   "params before method",
			body:   `{"params":{"id":"t"},"id":-9007199254740993,"method":"CancelTask","jsonrpc":"2.0"}`,
			method: CancelTask, want: Call{Version: V10, TaskID: "t"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Call{Accept: "text/event-stream", TaskID: "left over"}
			if e := c.DecodeJSONRPC([]byte(tt.body), tt.header, Limits{}); e != nil {
				t.Fatal(e)
			}
			if c.Method.Name != tt.method || c.Binding != JSONRPC || c.Accept != "text/event-stream" {
				t.Errorf("method %s, binding %s, accept %q", c.Method.Name, c.Binding, c.Accept)
			}
			tt.want.Accept = c.Accept
			if diff := cmp.Diff(tt.want, decoded(c), equateCalls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCallPointsIntoBody holds what splicing and echoing rely on: ID, Params and
// ContextSpan are the caller's bytes, spaces and escapes included.
func TestCallPointsIntoBody(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{ "id" : "a\u0062\/" , "jsonrpc":"2.0", "method":"SendMessage", "params": {"message" : {"contextId" : "c\u0031" } } }`,
		`{"params": {"message" : {"contextId" : "c\u0031" } } ,"jsonrpc":"2.0","method":"message/send","id": "a\u0062\/" }`,
	} {
		var c Call
		if e := c.DecodeJSONRPC([]byte(body), "", Limits{}); e != nil {
			t.Fatal(e)
		}
		if string(c.ID) != `"a\u0062\/"` {
			t.Errorf("id %s", c.ID)
		}
		if string(c.Params) != `{"message" : {"contextId" : "c\u0031" } }` {
			t.Errorf("params %s", c.Params)
		}
		span := c.Body[c.ContextSpan[0]:c.ContextSpan[1]]
		if string(span) != `"c\u0031"` || c.ContextID != "c1" {
			t.Errorf("context %s at %s", c.ContextID, span)
		}
		for _, piece := range [][]byte{c.ID, c.Params} {
			if !within(c.Body, piece) {
				t.Error("not a piece of the body")
			}
		}
	}
}

// TestTenantSpans finds the tenant wherever it stands, and nothing where it says
// nothing.
func TestTenantSpans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		want []string
	}{
		{rpc("GetTask", `{"tenant": "a\u0062" ,"id":"t"}`), []string{`"a\u0062"`}},
		{`{"params":{"tenant":"ab","id":"t"},"jsonrpc":"2.0","id":1,"method":"GetTask"}`, []string{`"ab"`}},
		{
			rpc("SendMessage", `{"configuration":{"taskPushNotificationConfig":{"tenant":"x"}},"tenant":"\u0078","message":{}}`),
			[]string{`"x"`, `"\u0078"`},
		},
		{rpc(CreatePushConfig, `{"taskId":"t","tenant":"a","config":{"tenant":"a"}}`), []string{`"a"`, `"a"`}},
		{rpc("GetTask", `{"tenant":"","id":"t"}`), nil},
		{rpc("GetTask", `{"tenant":null,"id":"t"}`), nil},
		{rpc("SendMessage", `{"message":{"metadata":{"tenant":"m"},"parts":[{"data":{"tenant":"p"}}]}}`), nil},
	} {
		var c Call
		if e := c.DecodeJSONRPC([]byte(tt.body), "", Limits{}); e != nil {
			t.Fatalf("%s: %v", tt.body, e)
		}
		var got []string
		for _, span := range c.TenantSpans {
			got = append(got, string(c.Body[span[0]:span[1]]))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.body, diff)
		}
	}
}

// TestShared: the version is in doubt only for a name that two versions have, and
// only if nothing else in the request tells.
func TestShared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method, params string
		header         Version
		want           bool
	}{
		{"tasks/get", `{"id":"t","historyLength":1}`, "", true},
		{"tasks/cancel", `{"id":"t"}`, "", true},
		{"tasks/resubscribe", `{"id":"t"}`, "", true},
		{"tasks/resubscribe", `{"id":"t","historyLength":1}`, "", false}, // 0.1's mark
		{"tasks/get", `{"id":"t"}`, V03, false},
		{"tasks/get", `{"id":"t"}`, V01, false},
		{"tasks/send", `{"id":"t","message":{}}`, "", false},
		{"message/send", `{"message":{}}`, "", false},
		{"GetTask", `{"id":"t"}`, "", false},
	} {
		var c Call
		e := c.DecodeJSONRPC([]byte(rpc(tt.method, tt.params)), tt.header, Limits{})
		if e != nil || c.Shared != tt.want || c.Shared && c.Version != V03 {
			t.Errorf("%s %s with %q: %v, shared %t, %s", tt.method, tt.params, tt.header, e, c.Shared, c.Version)
		}
	}
}

// within reports whether piece shares its memory with body.
func within(body, piece []byte) bool {
	if len(piece) == 0 {
		return true
	}
	for i := range body {
		if &body[i] == &piece[0] {
			return i+len(piece) <= len(body)
		}
	}
	return false
}

// TestDecodeJSONRPCRefuses has one defect each. Where the id could be read, the
// error must be able to carry it.
func TestDecodeJSONRPCRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 257)
	many := "[" + strings.Repeat("0,", 10_000) + "0]"
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	abyss := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	var names strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&names, `"m%d":0,`, i)
	}
	members := strings.TrimSuffix(names.String(), ",")
	for _, tt := range []struct {
		name, body string
		header     Version
		want       *Kind
		id         string
		version    Version
	}{
		{"not JSON", `{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":}}`, "", parseError, "", V10},
		{"empty", ``, "", parseError, "", ""},
		{"too many elements behind the id", rpc("SendMessage", `{"message":{"parts":`+many+`}}`), "", parseError, "7", V10},
		{"too many elements before the id", `{"jsonrpc":"2.0","params":` + many + `,"method":"ListTasks", "id" : "z" }`, "", parseError, `"z"`, ""},
		{"too many elements, null id", `{"params":` + many + `,"id":null}`, "", parseError, "null", ""},
		{"too many elements, no id", `{"jsonrpc":"2.0","params":{"id":7,"a":` + many + `},"method":"ListTasks"}`, "", parseError, "", ""},
		{"too many elements, two ids", `{"jsonrpc":"2.0","id":7,"params":` + many + `,"method":"ListTasks","id":8}`, "", parseError, "", ""},
		{"too many elements, an id that is almost one", `{"id":7,"params":` + many + `,"ID":8}`, "", parseError, "", ""},
		{"too many elements, an id in other letters", `{"params":` + many + `,"\u0069d":8}`, "", parseError, "8", ""},
		{"too many elements, id a list", `{"params":` + many + `,"id":[7]}`, "", parseError, "", ""},
		{"too many elements, a long id", `{"params":` + many + `,"id":"` + long + `"}`, "", parseError, "", ""},
		{"too many elements, and no end", `{"id":7,"params":` + many, "", parseError, "", ""},
		{"too many elements, and more behind it", `{"id":7,"params":` + many + `}{}`, "", parseError, "", ""},
		{"too many calls", many, "", parseError, "", ""},
		{"too many members of params", `{"params":{` + members + `},"id":7}`, "", parseError, "7", ""},
		{"too many members of the call", `{` + members + `,"id":7}`, "", parseError, "7", ""},
		{"too deep behind the id", rpc("GetTask", deep), "", parseError, "7", V10},
		{"too deep before the id", `{"params":` + deep + `,"id":7}`, "", parseError, "7", ""},
		{"far too deep before the id", `{"params":` + abyss + `,"id":7}`, "", parseError, "7", ""},
		{"too deep, with brackets in strings", `{"params":["]}",` + deep + `,"\"[{"],"id":7}`, "", parseError, "7", ""},
		{"too deep, and no JSON", `{"params":` + deep + `,"id":7`, "", parseError, "", ""},
		{"the same member twice behind the id", rpc("GetTask", `{"id":"a","id":"a"}`), "", InvalidRequest, "7", V10},
		{"too large", `{"id":7,"method":"ListTasks","params":{"a":"` + strings.Repeat("x", 4<<20) + `"}}`, "", TooLarge, "7", ""},
		{"scalar", `"hello"`, "", InvalidRequest, "", ""},
		{"no jsonrpc", `{"id":7,"method":"ListTasks"}`, "", InvalidRequest, "7", V10},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":7,"method":"ListTasks"}`, "", InvalidRequest, "7", V10},
		{"jsonrpc number", `{"jsonrpc":2.0,"id":7,"method":"ListTasks"}`, "", InvalidRequest, "7", V10},
		{"no method", `{"jsonrpc":"2.0","id":7}`, "", InvalidRequest, "7", ""},
		{"method number", `{"jsonrpc":"2.0","id":7,"method":1}`, "", InvalidRequest, "7", ""},
		{"notification", `{"jsonrpc":"2.0","method":"ListTasks"}`, "", InvalidRequest, "", V10},
		{"notification, no task id", `{"jsonrpc":"2.0","method":"GetTask","params":{}}`, "", InvalidParams, "", V10},
		{"notification, no params", `{"jsonrpc":"2.0","method":"GetTask"}`, "", InvalidParams, "", V10},
		{"notification, unknown method", `{"jsonrpc":"2.0","method":"Nope"}`, "", MethodNotFound, "", V10},
		{"null id, no task id", `{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{}}`, "", InvalidParams, "null", V10},
		{"list id", `{"jsonrpc":"2.0","id":[1],"method":"ListTasks"}`, "", InvalidRequest, "", V10},
		{"long number id", `{"jsonrpc":"2.0","id":0.` + strings.Repeat("1", 256) + `,"method":"ListTasks"}`, "", InvalidRequest, "", V10},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ListTasks"}`, "", InvalidRequest, "", V10},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ListTasks"}`, "", InvalidRequest, "", V10},
		{"long id", `{"jsonrpc":"2.0","id":"` + long + `","method":"ListTasks"}`, "", InvalidRequest, "", V10},
		{"extra member", `{"jsonrpc":"2.0","id":7,"method":"ListTasks","tenant":"a"}`, "", InvalidRequest, "7", V10},
		{"unknown method", `{"jsonrpc":"2.0","method":"Nope","id":"z"}`, "", MethodNotFound, `"z"`, V10},
		{"unknown slash method", `{"jsonrpc":"2.0","method":"no/pe","id":"z"}`, "", MethodNotFound, `"z"`, V03},
		{"params array", rpc("GetTask", `["t"]`), "", InvalidParams, "7", V10},
		{"params string", rpc("GetTask", `"t"`), "", InvalidParams, "7", V10},
		{"no params", `{"jsonrpc":"2.0","id":7,"method":"GetTask"}`, "", InvalidParams, "7", V10},
		{"no task id", rpc("GetTask", `{}`), "", InvalidParams, "7", V10},
		{"empty task id", rpc("GetTask", `{"id":""}`), "", InvalidParams, "7", V10},
		{"task id number", rpc("GetTask", `{"id":1}`), "", InvalidParams, "7", V10},
		{"long task id", rpc("GetTask", `{"id":"`+long+`"}`), "", InvalidParams, "7", V10},
		{"NUL in task id", rpc("GetTask", `{"id":"a\u0000"}`), "", InvalidParams, "7", V10},
		{"line break in task id", rpc("GetTask", `{"id":"a\nb"}`), "", InvalidParams, "7", V10},
		{"two task ids", rpc("GetTask", `{"id":"a","taskId":"b"}`), "", InvalidParams, "7", V10},
		{"no message", rpc("SendMessage", `{}`), "", InvalidParams, "7", V10},
		{"message null", rpc("SendMessage", `{"message":null}`), "", InvalidParams, "7", V10},
		{"message string", rpc("SendMessage", `{"message":"go"}`), "", InvalidParams, "7", V10},
		{"0.1 send without task", rpc("tasks/send", `{"message":{}}`), "", InvalidParams, "7", V01},
		{"0.1 send, other task in message", rpc("tasks/send", `{"id":"a","message":{"taskId":"b"}}`), "", InvalidParams, "7", V01},
		{"0.1 send, two contexts", rpc("tasks/send", `{"id":"a","sessionId":"s","message":{"contextId":"c"}}`), "", InvalidParams, "7", V01},
		{"references not array", rpc("SendMessage", `{"message":{"referenceTaskIds":"a"}}`), "", InvalidParams, "7", V10},
		{"reference number", rpc("SendMessage", `{"message":{"referenceTaskIds":["a",1]}}`), "", InvalidParams, "7", V10},
		{"parts object", rpc("SendMessage", `{"message":{"parts":{}}}`), "", InvalidParams, "7", V10},
		{"skill number", rpc("SendMessage", `{"message":{},"metadata":{"`+SkillSelection+`":1}}`), "", InvalidParams, "7", V10},
		{
			"skills disagree", rpc("SendMessage", `{"message":{"metadata":{"`+SkillSelection+`":"a"}},"metadata":{"`+SkillSelection+`":"b"}}`),
			"", InvalidParams, "7", V10,
		},
		{
			"push config for another task",
			rpc("SendMessage", `{"configuration":{"taskPushNotificationConfig":{"taskId":"b"}},"message":{"taskId":"a"}}`),
			"", InvalidParams, "7", V10,
		},
		{
			"push config for a task the message does not name",
			rpc("SendMessage", `{"message":{},"configuration":{"taskPushNotificationConfig":{"taskId":"b"}}}`),
			"", InvalidParams, "7", V10,
		},
		{
			"push config for another tenant",
			rpc("SendMessage", `{"tenant":"a","message":{},"configuration":{"taskPushNotificationConfig":{"tenant":"b"}}}`),
			"", InvalidParams, "7", V10,
		},
		{"config ids disagree", rpc(CreatePushConfig, `{"taskId":"t","id":"a","config":{"id":"b"}}`), "", InvalidParams, "7", V10},
		{"params wrong, id behind", `{"jsonrpc":"2.0","method":"GetTask","params":{},"id":"late"}`, "", InvalidParams, `"late"`, V10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var c Call
			e := c.DecodeJSONRPC([]byte(tt.body), tt.header, Limits{})
			if e == nil || e.Kind != tt.want {
				t.Fatalf("got %v, want %s", e, tt.want.Reason)
			}
			if string(c.ID) != tt.id || c.Version != tt.version || c.Binding != JSONRPC {
				t.Errorf("id %s, version %q; want %s, %q", c.ID, c.Version, tt.id, tt.version)
			}
		})
	}
}

// TestLimits holds the bounds that are not the scanner's.
func TestLimits(t *testing.T) {
	t.Parallel()
	body := []byte(rpc("SendMessage", `{"message":{"parts":[{},{},{}]}}`))
	var c Call
	if e := c.DecodeJSONRPC(body, "", Limits{Parts: 3}); e != nil {
		t.Error(e)
	}
	if e := c.DecodeJSONRPC(body, "", Limits{Parts: 2}); e == nil || e.Kind != InvalidParams || string(c.ID) != "7" {
		t.Errorf("too many parts: %v", e)
	}
	if e := c.DecodeJSONRPC(body, "", Limits{Body: 10}); e == nil || e.Kind != TooLarge {
		t.Errorf("too large: %v", e)
	}
	if e := c.DecodeHTTP(Route{Method: &methods[0], Version: V10}, nil, body, "", Limits{Body: 10}); e == nil || e.Kind != TooLarge {
		t.Errorf("too large: %v", e)
	}
	if e := c.DecodeJSONRPC([]byte(rpc("GetTask", `{"id":"abcd"}`)), "", Limits{IDLength: 3}); e == nil {
		t.Error("an id over its limit was accepted")
	}
}
