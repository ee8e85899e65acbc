package wire

import (
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	a2apbv1 "github.com/a2aproject/a2a-go/v2/a2apb/v1"
)

// A1: where a version does not define a member, one that may name a task or context says the
// same as the call, or the call is refused: an agent that looks there finds nothing else.
func TestA01_StrayIDs(t *testing.T) {
	t.Parallel()
	const send = `"message":{"messageId":"m","taskId":"T","contextId":"C","parts":[]}`
	for _, tt := range []struct {
		version Version
		method  string
		params  string // ID stands for an id
		own     string // that passes; "" for none
		member  string // that the refusal names
	}{
		{V10, "SendMessage", `{` + send + `,"taskId":"ID"}`, "T", "taskId"},
		{V10, "SendMessage", `{"id":"ID",` + send + `}`, "T", "id"},
		{V10, "SendMessage", `{"name":"tasks/ID",` + send + `}`, "T", "name"},
		{V10, "SendMessage", `{"name":"ID",` + send + `}`, "T", "name"},
		{V10, "SendMessage", `{"task_id":"ID",` + send + `}`, "T", "taskId"},
		{V10, "SendMessage", `{"id":"T","taskId":"ID",` + send + `}`, "T", "taskId"},
		{V10, "SendMessage", `{"contextId":"ID",` + send + `}`, "C", "contextId"},
		{V10, "SendMessage", `{"sessionId":"ID",` + send + `}`, "C", "sessionId"},
		{V10, "SendMessage", `{"configuration":{"taskId":"ID"},` + send + `}`, "T", "taskId"},
		{V10, "SendMessage", `{"configuration":{"contextId":"ID"},` + send + `}`, "C", "contextId"},
		{V10, "SendMessage", `{"message":{"parts":[]},"taskId":"ID"}`, "", "taskId"},
		{V10, "SendMessage", `{"message":{"parts":[],"sessionId":"ID","contextId":"C"}}`, "C", "sessionId"},
		{V10, "SendMessage", `{"message":{"parts":[]},"sessionId":"ID"}`, "", "sessionId"},
		{V10, "SendStreamingMessage", `{` + send + `,"request":{"taskId":"ID"}}`, "", "request"},
		{V10, "SendMessage", `{` + send + `,"configuration":{"pushNotificationConfig":{"name":"tasks/ID/pushNotificationConfigs/c"}}}`, "T", "config"},
		{V10, "SendMessage", `{` + send + `,"pushNotification":{"id":"ID","url":"https://example.com"}}`, "", "pushNotification"},
		{V03, "message/send", `{` + send + `,"pushNotificationConfig":{"id":"ID","url":"https://example.com"}}`, "", "pushNotificationConfig"},
		{V03, "message/stream", `{` + send + `,"id":"ID"}`, "T", "id"},
		{V01, "tasks/send", `{"id":"T","message":{},"taskId":"ID"}`, "T", "taskId"},
		{V01, "tasks/sendSubscribe", `{"id":"T","sessionId":"C","message":{},"contextId":"ID"}`, "C", "contextId"},
		{V01, "tasks/send", `{"id":"T","sessionId":"C","message":{"contextId":"ID"}}`, "C", "contextId"},
		{V10, "GetTask", `{"id":"T","name":"tasks/ID"}`, "T", "name"},
		{V10, "GetTask", `{"name":"ID","taskId":"T"}`, "T", "taskId"},
		{V10, "CancelTask", `{"name":"tasks/ID","id":"T"}`, "T", "id"},
		{V10, "CancelTask", `{"name":"tasks/T/ID","id":"T"}`, "", "name"},
		{V10, "SubscribeToTask", `{"id":"T","name":"ID"}`, "T", "name"},
		{V10, "GetTask", `{"id":"T","contextId":"C","sessionId":"ID"}`, "C", "sessionId"},
		{V03, "tasks/get", `{"id":"T","taskId":"ID"}`, "T", "taskId"},
		{V01, "tasks/pushNotification/get", `{"id":"T","name":"tasks/ID"}`, "T", "name"},
		{V10, "ListTasks", `{"contextId":"C","sessionId":"ID"}`, "C", "sessionId"},
		{V10, "ListTasks", `{"taskId":"ID"}`, "", "taskId"},
		{V10, "ListTaskPushNotificationConfigs", `{"taskId":"T","name":"tasks/ID"}`, "T", "name"},
		{V10, "ListTaskPushNotificationConfigs", `{"taskId":"T","parent":"tasks/ID"}`, "T", "parent"},
		{V10, "GetTaskPushNotificationConfig", `{"taskId":"T","id":"C","pushNotificationConfigId":"ID"}`, "C", "pushNotificationConfigId"},
		{V03, "tasks/pushNotificationConfig/get", `{"id":"T","name":"tasks/ID/pushNotificationConfigs/c"}`, "T", "name"},
	} {
		decode := func(id string) *Error {
			var c Call
			return c.DecodeJSONRPC([]byte(rpc(tt.method, strings.ReplaceAll(tt.params, "ID", id))), tt.version, Limits{})
		}
		if e := decode("X"); e == nil || e.Kind != InvalidParams || !strings.Contains(e.Message, tt.member) {
			t.Errorf("%s %s %s: another's id: %v", tt.version, tt.method, tt.params, e)
		}
		if tt.own == "" {
			continue
		}
		if e := decode(tt.own); e != nil {
			t.Errorf("%s %s %s: the call's own id: %v", tt.version, tt.method, tt.params, e)
		}
	}
}

// A1: names that are not quite those, and values that are no ids, are no way around it.
func TestA01_StrayNamesAndValues(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		`{"message":{},"TaskId":"X"}`, `{"message":{},"task-id":"X"}`, `{"message":{},"taskId":["X"]}`, `{"message":{},"taskId":7}`,
		`{"message":{"contextId":"C"},"sessionId":"C","session_id":"X"}`, `{"message":{},"sessionId":{"id":"X"}}`,
		`{"message":{},"configuration":{"Name":"tasks/X"}}`, `{"message":{},"id":"X\u0000"}`, `{"message":{},"Request":{"taskId":"X"}}`,
	} {
		var c Call
		if e := c.DecodeJSONRPC([]byte(rpc("SendMessage", params)), V10, Limits{}); e == nil || e.Kind != InvalidParams {
			t.Errorf("%s: %v", params, e)
		}
	}
	for _, params := range []string{
		`{"message":{},"taskId":""}`, `{"message":{},"taskId":null,"request":null}`, `{"message":{"id":"X","name":"X"}}`,
	} {
		var c Call
		if e := c.DecodeJSONRPC([]byte(rpc("SendMessage", params)), V10, Limits{}); e != nil {
			t.Errorf("%s: %v", params, e)
		}
	}
}

// A1: tasks that a send refers to are asked for wherever it names them, and contexts are
// found wherever they stand, so that all of them can be replaced.
func TestA01_StrayIDsAreKept(t *testing.T) {
	t.Parallel()
	var c Call
	params := `{"sessionId":"C","referenceTaskIds":["A"],"message":{"referenceTaskIds":["B"],"contextId":"C"},` +
		`"configuration":{"contextId":"\u0043","referenceTaskIds":["D"]}}`
	if e := c.DecodeJSONRPC([]byte(rpc("SendMessage", params)), V10, Limits{}); e != nil {
		t.Fatal(e)
	}
	if got := strings.Join(c.ReferenceTaskIDs, " "); got != "D B A" {
		t.Errorf("refers to %s", got)
	}
	if len(c.ContextCopies) != 2 {
		t.Errorf("contexts at %v and %v", c.ContextSpan, c.ContextCopies)
	}
	checkAccepted(t, &c)
}

// A1: the same in a query, and in a body of HTTP+JSON.
func TestA01_StrayIDsOverHTTP(t *testing.T) {
	t.Parallel()
	const send = `{"message":{"taskId":"T","contextId":"C","parts":[]}`
	for _, tt := range []struct {
		verb, path, query, body string
		passes                  bool
	}{
		{"GET", "/tasks/T", "historyLength=1&includes=X", "", true},
		{"GET", "/tasks/T", "contextId=C&sessionId=X", "", false},
		{"GET", "/tasks/T", "contextId=C&sessionId=C", "", true},
		{"GET", "/tasks/T", "name=tasks%2FX", "", false},
		{"GET", "/tasks/T", "name=tasks%2FT", "", true},
		{"GET", "/tasks/T", "id=X", "", false},
		{"GET", "/tasks/T", "task_id=X", "", false},
		{"GET", "/v1/tasks/T", "id=X", "", false},
		{"POST", "/tasks/T:cancel", "", `{"name":"tasks/X"}`, false},
		{"POST", "/tasks/T:cancel", "sessionId=X", `{"contextId":"C"}`, false},
		{"GET", "/tasks", "taskId=X", "", false},
		{"GET", "/tasks", "contextId=C&sessionId=X", "", false},
		{"POST", "/message:send", "taskId=X", send + `}`, false},
		{"POST", "/message:send", "taskId=T&contextId=C", send + `}`, true},
		{"POST", "/message:send", "contextId=X", send + `}`, false},
		{"POST", "/message:send", "request=X", send + `}`, false},
		{"POST", "/message:send", "", send + `,"request":{"taskId":"X"}}`, false},
		{"POST", "/message:send", "", send + `,"sessionId":"X"}`, false},
		{"POST", "/v1/message:send", "", send + `,"taskId":"X"}`, false},
		{"POST", "/v1/message:send", "", send + `,"request":{"taskId":"X"}}`, false},
		{"POST", "/v1/message:send", "", `{"request":{"taskId":"T"},"id":"T"}`, true},
		{"POST", "/tasks/T/pushNotificationConfigs", "parent=tasks/X", `{"url":"https://example.com"}`, false},
	} {
		route, ok := ByRoute(tt.verb, tt.path)
		if !ok {
			t.Fatalf("no route %s %s", tt.verb, tt.path)
		}
		values, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var body []byte
		if tt.body != "" {
			body = []byte(tt.body)
		}
		var c Call
		e := c.DecodeHTTP(route, values, body, "", Limits{})
		if (e == nil) != tt.passes || e != nil && e.Kind != InvalidParams {
			t.Errorf("%s %s?%s %s: %v", tt.verb, tt.path, tt.query, tt.body, e)
		}
	}
	var c Call
	route, _ := ByRoute("POST", "/message:send")
	if e := c.DecodeHTTP(route, url.Values{"referenceTaskIds": {"A"}}, []byte(send+`}`), "", Limits{}); e != nil || len(c.ReferenceTaskIDs) != 1 {
		t.Errorf("%v, refers to %v", e, c.ReferenceTaskIDs)
	}
}

// A1: what no field of the protobuf message is called is in nobody's document.
func TestA01_StrayFields(t *testing.T) {
	t.Parallel()
	m, _ := ByName(V10, GetTask)
	message, err := proto.Marshal(&a2apbv1.GetTaskRequest{Id: "T"})
	if err != nil {
		t.Fatal(err)
	}
	message = append(message, 0x7a, 1, 'X') // field 15, a string
	var c Call
	if e := c.DecodeGRPC(m, V10, message, "", Limits{}); e != nil || c.TaskID != "T" || strings.Contains(string(c.Body), "X") {
		t.Errorf("%v: %s", e, c.Body)
	}
}
