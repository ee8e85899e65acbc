package wire

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decodeRequest decodes "POST /path?query" with a body.
func decodeRequest(t *testing.T, request, body string, header Version) (Call, *Error) {
	t.Helper()
	verb, target, _ := strings.Cut(request, " ")
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := ByRoute(verb, u.EscapedPath())
	if !ok {
		t.Fatalf("no route: %s", request)
	}
	c := Call{Accept: "application/json"}
	e := c.DecodeHTTP(r, u.Query(), []byte(body), header, Limits{})
	return c, e
}

// TestDecodeHTTP has a request as each kind of client writes it.
func TestDecodeHTTP(t *testing.T) {
	t.Parallel()
	const c03 = "/v1/tasks/t/pushNotificationConfigs"
	for _, tt := range []struct {
		name, request, body string
		header              Version
		method              string
		want                Call
	}{
		{
			name: "Go 1.0 with tenant in path and body", request: "POST /acme/message:send", header: V10,
			body:   `{"tenant":"acme","message":{"messageId":"m","taskId":"t","contextId":"c","parts":[{"text":"go"}]}}`,
			method: SendMessage, want: Call{Version: V10, Tenant: "acme", MessageID: "m", TaskID: "t", ContextID: "c"},
		},
		{
			name: "JS 0.3", request: "POST /v1/message:stream", header: V03,
			body:   `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"go"}]},"configuration":{"pushNotification":{"url":"u"}}}`,
			method: SendStreamingMessage, want: Call{Version: V03, Streaming: true, MessageID: "m", HasPushConfig: true},
		},
		{
			name: "Python's compatibility client", request: "POST /v1/message:send",
			body: `{"request":{"message_id":"m","context_id":"c","content":[]},"configuration":{"push_notification":null},` +
				`"metadata":{"` + SkillSelection + `":"s"}}`,
			method: SendMessage, want: Call{Version: V03, MessageID: "m", ContextID: "c", Skill: "s"},
		},
		{
			name: "get with history", request: "GET /tasks/t?historyLength=3", header: V10,
			method: GetTask, want: Call{Version: V10, TaskID: "t"},
		},
		{
			name: "get with JS's spelling", request: "GET /v1/tasks/t?history_length=3",
			method: GetTask, want: Call{Version: V03, TaskID: "t"},
		},
		{
			name: "get that repeats the id", request: "GET /x/tasks/t?id=t&tenant=x&name=tasks/t",
			method: GetTask, want: Call{Version: V10, TaskID: "t", Tenant: "x"},
		},
		{
			name: "list", request: "GET /tasks?contextId=c&pageToken=p&pageSize=3&tenant=x&status=TASK_STATE_WORKING",
			method: ListTasks, want: Call{Version: V10, ContextID: "c", PageToken: "p", Tenant: "x"},
		},
		{
			name: "list in snake case", request: "GET /tasks?context_id=c&page_token=p",
			method: ListTasks, want: Call{Version: V10, ContextID: "c", PageToken: "p"},
		},
		{name: "cancel without body", request: "POST /tasks/t:cancel", method: CancelTask, want: Call{Version: V10, TaskID: "t"}},
		{name: "cancel with null", request: "POST /tasks/t:cancel", body: "null", method: CancelTask, want: Call{Version: V10, TaskID: "t"}},
		{name: "cancel with {}", request: "POST /v1/tasks/t:cancel", body: "{}", method: CancelTask, want: Call{Version: V03, TaskID: "t"}},
		{
			name: "cancel that repeats the id", request: "POST /tasks/t:cancel", body: `{"id":"t","tenant":"x","metadata":{"` + SkillSelection + `":"s"}}`,
			method: CancelTask, want: Call{Version: V10, TaskID: "t", Tenant: "x", Skill: "s"},
		},
		{
			name: "cancel by resource name", request: "POST /v1/tasks/t:cancel", body: `{"name":"tasks/t"}`,
			method: CancelTask, want: Call{Version: V03, TaskID: "t"},
		},
		{
			name: "subscribe", request: "GET /v1/tasks/t:subscribe",
			method: SubscribeToTask, want: Call{Version: V03, TaskID: "t", Streaming: true},
		},
		{
			name: "1.0 push create", request: "POST /tasks/t/pushNotificationConfigs", body: `{"id":"c","taskId":"t","url":"u"}`,
			method: CreatePushConfig, want: Call{Version: V10, TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			name: "0.3 push create as Python and Go write it", request: "POST " + c03,
			body:   `{"parent":"tasks/t","configId":"c","config":{"name":"tasks/t/pushNotificationConfigs/c","pushNotificationConfig":{"id":"c","url":"u"}}}`,
			method: CreatePushConfig, want: Call{Version: V03, TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			name: "0.3 push create as JS writes it", request: "POST " + c03,
			body:   `{"name":"tasks/t/pushNotificationConfigs/","pushNotificationConfig":{"url":"u"}}`,
			method: CreatePushConfig, want: Call{Version: V03, TaskID: "t", HasPushConfig: true},
		},
		{
			name: "0.3 push create in the JSON-RPC shape", request: "POST " + c03,
			body:   `{"taskId":"t","pushNotificationConfig":{"id":"c","url":"u"}}`,
			method: CreatePushConfig, want: Call{Version: V03, TaskID: "t", ConfigID: "c", HasPushConfig: true},
		},
		{
			name: "0.3 push get", request: "GET " + c03 + "/c",
			method: "GetTaskPushNotificationConfig", want: Call{Version: V03, TaskID: "t", ConfigID: "c"},
		},
		{
			name: "1.0 push delete", request: "DELETE /x/tasks/t/pushNotificationConfigs/c?tenant=x",
			method: "DeleteTaskPushNotificationConfig", want: Call{Version: V10, Tenant: "x", TaskID: "t", ConfigID: "c"},
		},
		{
			name: "1.0 push list", request: "GET /tasks/t/pushNotificationConfigs?pageToken=p",
			method: "ListTaskPushNotificationConfigs", want: Call{Version: V10, TaskID: "t", PageToken: "p"},
		},
		{name: "card", request: "GET /extendedAgentCard?tenant=x", method: GetExtendedAgentCard, want: Call{Version: V10, Tenant: "x"}},
		{name: "0.3 card", request: "GET /v1/card", method: GetExtendedAgentCard, want: Call{Version: V03}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, e := decodeRequest(t, tt.request, tt.body, tt.header)
			if e != nil {
				t.Fatal(e)
			}
			if c.Method.Name != tt.method || c.Binding != HTTPJSON || c.ID != nil || string(c.Params) != tt.body {
				t.Errorf("method %s, binding %s, id %s, params %s", c.Method.Name, c.Binding, c.ID, c.Params)
			}
			tt.want.Accept = "application/json"
			if diff := cmp.Diff(tt.want, decoded(c), equateCalls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDecodeHTTPRefuses has one defect each; what the path said stays known.
func TestDecodeHTTPRefuses(t *testing.T) {
	t.Parallel()
	const push = "POST /v1/tasks/t/pushNotificationConfigs"
	for _, tt := range []struct {
		name, request, body string
		want                *Kind
	}{
		{"no body", "POST /message:send", "", parseError},
		{"not JSON", "POST /message:send", "{", parseError},
		{"trailing data", "POST /message:send", `{"message":{}}{}`, parseError},
		{"blank body", "POST /tasks/t:cancel", " ", parseError},
		{"null body", "POST /message:send", "null", InvalidRequest},
		{"array body", "POST /message:send", `[{"message":{}}]`, InvalidRequest},
		{"duplicate", "POST /message:send", `{"message":{},"message":{}}`, InvalidRequest},
		{"no message", "POST /message:send", "{}", InvalidParams},
		{"message and request", "POST /v1/message:send", `{"message":{},"request":{}}`, InvalidParams},
		{"request in 1.0", "POST /message:send", `{"request":{}}`, InvalidParams},
		{"near miss", "POST /message:send", `{"message":{"TaskId":"t"}}`, InvalidParams},
		{"near miss of request", "POST /v1/message:send", `{"Request":{}}`, InvalidParams},
		{"tenant differs", "POST /x/message:send", `{"tenant":"y","message":{}}`, InvalidParams},
		{"tenant differs in query", "GET /x/tasks?tenant=y", "", InvalidParams},
		{"tenant differs between query and body", "POST /message:send?tenant=x", `{"tenant":"y","message":{}}`, InvalidParams},
		{"id differs in query", "GET /tasks/t?id=u", "", InvalidParams},
		{"taskId differs in query", "GET /tasks/t?taskId=u", "", InvalidParams},
		{"name differs in query", "GET /v1/tasks/t?name=tasks/u", "", InvalidParams},
		{"id differs in body", "POST /tasks/t:cancel", `{"id":"u"}`, InvalidParams},
		{"name differs in body", "POST /v1/tasks/t:cancel", `{"name":"tasks/u"}`, InvalidParams},
		{"query near miss", "GET /tasks?ContextId=c", "", InvalidParams},
		{"query in both spellings", "GET /tasks?contextId=c&context_id=c", "", InvalidParams},
		{"query twice", "GET /tasks?contextId=c&contextId=c", "", InvalidParams},
		{"query with NUL", "GET /tasks?contextId=c%00", "", InvalidParams},
		{"query not UTF-8", "GET /tasks?contextId=%ff", "", InvalidParams},
		{"path with NUL", "GET /tasks/t%00", "", InvalidParams},
		{"path not UTF-8", "GET /tasks/%ff", "", InvalidParams},
		{"path too long", "GET /tasks/" + strings.Repeat("t", 257), "", InvalidParams},
		{"parent differs", push, `{"parent":"tasks/u","config":{}}`, InvalidParams},
		{"task differs in wrapped name", push, `{"config":{"name":"tasks/u/pushNotificationConfigs/c"}}`, InvalidParams},
		{"config differs in wrapped name", push, `{"configId":"c","config":{"name":"tasks/t/pushNotificationConfigs/d"}}`, InvalidParams},
		{"config differs in push config", push, `{"configId":"c","config":{"pushNotificationConfig":{"id":"d"}}}`, InvalidParams},
		{"taskId differs", push, `{"taskId":"u","pushNotificationConfig":{}}`, InvalidParams},
		{"1.0 taskId differs", "POST /tasks/t/pushNotificationConfigs", `{"taskId":"u","url":"u"}`, InvalidParams},
		{"config differs in query", "GET /tasks/t/pushNotificationConfigs/c?id=d", "", InvalidParams},
		{"push create without body", push, "", parseError},
		{"body where none belongs", "GET /tasks/t", "{}", InvalidRequest},
		{"body on delete", "DELETE /tasks/t/pushNotificationConfigs/c", "null", InvalidRequest},
		{"0.3 has no list", "GET /v1/tasks", "", Unsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, e := decodeRequest(t, tt.request, tt.body, "")
			if e == nil || e.Kind != tt.want {
				t.Fatalf("got %v, want %s", e, tt.want.Reason)
			}
			if c.Method == nil || c.Version == "" || c.Binding != HTTPJSON || c.Streaming != c.Method.Streams {
				t.Errorf("%+v", c)
			}
		})
	}
	var c Call
	if e := c.DecodeHTTP(Route{}, nil, nil, "", Limits{}); e == nil || e.Kind != MethodNotFound {
		t.Errorf("no route: %v", e)
	}
}
