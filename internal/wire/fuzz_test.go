package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// FuzzDecode feeds bodies to both decoders. Nothing panics; what is accepted is
// kept verbatim and means to encoding/json, the laxest parser about, what it
// means to us.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		rpc("SendMessage", `{"tenant":"a","message":{"messageId":"m","taskId":"t","contextId":"c","parts":[{"text":"x"}]}}`),
		rpc("message/stream", `{"message":{"task_id":"t","referenceTaskIds":["r"]},"configuration":{"pushNotificationConfig":{"id":"p"}}}`),
		rpc("tasks/send", `{"id":"t","sessionId":"c","message":{}}`),
		rpc("tasks/get", `{"id":"t","TaskId":"u"}`),
		rpc("GetTask", `{"id":"t","name":"tasks/u"}`),
		rpc("SendMessage", `{"message":{"taskId":"t"},"configuration":{"taskId":"u"},"sessionId":"c"}`),
		rpc("SendMessage", `{"sessionId":"c","message":{"contextId":"c"},"referenceTaskIds":["r"],"configuration":{"context_id":"\u0063"}}`),
		rpc("message/send", `{"message":{},"request":{"taskId":"t"},"pushNotification":null}`),
		rpc("tasks/cancel", `{"sessionId":"c","id":"t","contextId":"c","name":"tasks/t"}`),
		rpc("tasks/resubscribe", `{"id":"t","historyLength":1}`),
		rpc("tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"id":"c"}}`),
		rpc(CreatePushConfig, `{"taskId":"t","id":"c","config":{"name":"tasks/t"}}`),
		rpc("ListTasks", `{"contextId":"c","pageToken":"p"}`),
		`{"params":{"id":"t"},"method":"GetTask","id":"i","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage\u0000","params":{"message":{"contextId\u0000":"c","conte\u017ftId":"d"}}}`,
		`{"message":{"messageId":"m","taskId":"t"},"configuration":{}}`,
		`{"request":{"message_id":"m","task_id":"t","content":[]}}`,
		`{"parent":"tasks/t","configId":"c","config":{"name":"tasks/t/pushNotificationConfigs/c","pushNotificationConfig":{"id":"c"}}}`,
		`[]`, `null`, `{`,
	} {
		f.Add([]byte(seed))
	}
	addVectors(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		for _, header := range []Version{"", V01, V03, V10} {
			var c Call
			if e := c.DecodeJSONRPC(body, header, Limits{}); e == nil {
				checkAccepted(t, &c)
				checkAgainstV1(t, &c)
			}
		}
		for _, path := range []string{"/message:send", "/v1/message:send", "/v1/tasks/t/pushNotificationConfigs", "/acme/tasks/t:cancel"} {
			r, ok := ByRoute(http.MethodPost, path)
			if !ok || r.Method == nil {
				t.Fatal(path)
			}
			var c Call
			if e := c.DecodeHTTP(r, url.Values{}, body, "", Limits{}); e == nil {
				checkAccepted(t, &c)
				if r.TaskID != "" && c.TaskID != r.TaskID || r.Tenant != "" && c.Tenant != r.Tenant {
					t.Errorf("%s: task %q, tenant %q", path, c.TaskID, c.Tenant)
				}
			}
		}
		if string(body) != before {
			t.Error("the body was changed")
		}
	})
}

// checkAccepted holds what every accepted call promises.
func checkAccepted(t *testing.T, c *Call) {
	t.Helper()
	if c.Method == nil || c.Version == "" || c.Streaming != c.Method.Streams {
		t.Fatalf("incomplete: %+v", c)
	}
	if !json.Valid(c.Body) && len(c.Body) > 0 {
		t.Fatalf("encoding/json refuses %q", c.Body)
	}
	if !within(c.Body, c.ID) || !within(c.Body, c.Params) {
		t.Fatal("ID or Params is a copy")
	}
	spans := c.ContextCopies
	if c.ContextSpan != [2]int{} {
		spans = append([][2]int{c.ContextSpan}, spans...)
	}
	for _, span := range spans {
		var s string
		if err := json.Unmarshal(c.Body[span[0]:span[1]], &s); err != nil || s != c.ContextID {
			t.Fatalf("context %q stands at %q", c.ContextID, s)
		}
	}
	for _, span := range c.TenantSpans {
		var s string
		if err := json.Unmarshal(c.Body[span[0]:span[1]], &s); err != nil || s != c.Tenant {
			t.Fatalf("tenant %q stands at %q", c.Tenant, s)
		}
	}
	if c.Binding == JSONRPC && (c.ContextID == "") != (c.ContextSpan == [2]int{}) {
		t.Fatalf("context %q, span %v", c.ContextID, c.ContextSpan)
	}
	for _, id := range slices.Concat([]string{c.Tenant, c.TaskID, c.ContextID, c.ConfigID, c.MessageID, c.Skill}, c.ReferenceTaskIDs) {
		if len(id) > 256 || strings.ContainsFunc(id, unicode.IsControl) {
			t.Fatalf("id %q", id)
		}
	}
}

// v1Call is a call as encoding/json reads it: names in any case, the last of
// several winning.
type v1Call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type v1Names struct {
	TaskID       string `json:"taskId"`
	TaskSnake    string `json:"task_id"`
	ContextID    string `json:"contextId"`
	ContextSnake string `json:"context_id"`
}

type v1Params struct {
	ID        json.RawMessage `json:"id"`
	Name      json.RawMessage `json:"name"`
	Parent    json.RawMessage `json:"parent"`
	SessionID json.RawMessage `json:"sessionId"`
	Snake     json.RawMessage `json:"session_id"`
	v1Names
}

// tasks are the tasks that an agent may find anywhere in the params.
func (p *v1Params) tasks(c *Call) []string {
	found := []string{p.TaskID, p.TaskSnake}
	if c.Method.Subject != OfConfig || c.Version != V10 {
		found = append(found, v1Text(p.ID))
	}
	if c.Method.Subject == OfConfig {
		found = append(found, v1Task(p.Parent))
	}
	return append(found, v1Task(p.Name))
}

func (p *v1Params) contexts() []string {
	return []string{p.ContextID, p.ContextSnake, v1Text(p.SessionID), v1Text(p.Snake)}
}

func v1Text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// v1Task is the task of a resource name.
func v1Task(raw json.RawMessage) string {
	task, _, _ := strings.Cut(strings.TrimPrefix(v1Text(raw), "tasks/"), "/")
	return task
}

type v1Send struct {
	Message       v1Names         `json:"message"`
	Request       json.RawMessage `json:"request"`
	Configuration v1Params        `json:"configuration"`
}

// checkAgainstV1 reads the accepted bytes as a Go agent would and compares.
func checkAgainstV1(t *testing.T, c *Call) {
	t.Helper()
	var call v1Call
	if err := json.Unmarshal(c.Body, &call); err != nil {
		t.Fatal(err)
	}
	if m, ok := methodNames[call.Method]; !ok || m.method != c.Method || string(call.ID) != string(c.ID) {
		t.Fatalf("encoding/json reads method %q, id %s", call.Method, call.ID)
	}
	if string(call.Params) != string(c.Params) {
		t.Fatalf("encoding/json reads params %s", call.Params)
	}
	checkStrays(t, c, call.Params)
	task, context, ok := v1Read(c, call.Params)
	if ok && (task != c.TaskID || context != c.ContextID) {
		t.Fatalf("encoding/json reads task %q, context %q; we %q, %q", task, context, c.TaskID, c.ContextID)
	}
}

// checkStrays reads the params as an agent would that looks for ids everywhere.
func checkStrays(t *testing.T, c *Call, params []byte) {
	t.Helper()
	var all v1Params
	var send v1Send
	if len(params) == 0 || c.Method.Subject == OfAgent || json.Unmarshal(params, &all) != nil {
		return
	}
	tasks, contexts := all.tasks(c), all.contexts()
	if c.Method.Subject == OfMessage && json.Unmarshal(params, &send) == nil {
		tasks = append(tasks, send.Configuration.tasks(c)...)
		contexts = append(contexts, send.Configuration.contexts()...)
		if s := string(send.Request); s != "" && s != "null" {
			t.Fatalf("a second message: %s", s)
		}
	}
	for _, id := range tasks {
		if id != "" && id != c.TaskID {
			t.Fatalf("an agent may find task %q beside %q", id, c.TaskID)
		}
	}
	for _, id := range contexts {
		if id != "" && id != c.ContextID {
			t.Fatalf("an agent may find context %q beside %q", id, c.ContextID)
		}
	}
}

// v1Read finds task and context where the version has them. ok is false where
// a member that means nothing to us has a type that v1 cannot read.
func v1Read(c *Call, params []byte) (task, context string, ok bool) {
	if c.Method.Subject == OfMessage {
		var p v1Send
		if err := json.Unmarshal(params, &p); err != nil {
			return "", "", false
		}
		task = cmp.Or(p.Message.TaskID, p.Message.TaskSnake)
		context = cmp.Or(p.Message.ContextID, p.Message.ContextSnake)
		if c.Version != V01 {
			return task, context, true
		}
	}
	var p v1Params
	if len(params) > 0 && json.Unmarshal(params, &p) != nil {
		return "", "", false
	}
	switch c.Method.Subject {
	case OfMessage:
		return v1Text(p.ID), cmp.Or(context, v1Text(p.SessionID), v1Text(p.Snake)), true
	case OfCaller:
		return "", cmp.Or(p.ContextID, p.ContextSnake), true
	case OfAgent:
		return "", "", true
	}
	return cmp.Or(p.tasks(c)...), cmp.Or(p.contexts()...), true
}

// FuzzRoute: whatever is routed has its ids as one decoding gives them, and is
// reached again by the path that they build.
func FuzzRoute(f *testing.F) {
	for _, seed := range []string{
		"/message:send", "/acme/message:stream", "/tasks/a:b:cancel", "/v1/tasks/7/pushNotificationConfigs/c", "/tasks/%61%3A", "/v1/card",
		"/tasks/a%2fb", "/tasks/7%3Acancel", "/x/tasks/%00", "//tasks", "/tasks/", "/v1", "/tasks/..", "/extendedAgentCard", "/tasks/tasks", "/%74asks/tasks", "/%76%31/tasks",
	} {
		f.Add(http.MethodGet, seed)
		f.Add(http.MethodPost, seed)
	}
	f.Fuzz(func(t *testing.T, verb, path string) {
		r, ok := ByRoute(verb, path)
		if !ok {
			return
		}
		if r.Method == nil {
			if len(r.Allow) == 0 || slices.Contains(r.Allow, verb) {
				t.Fatalf("%s %s: allow %v", verb, path, r.Allow)
			}
			return
		}
		if !slices.Contains(r.Method.Verbs, verb) {
			t.Fatalf("%s is no verb of %s", verb, r.Method.Name)
		}
		decoded, err := url.PathUnescape(path)
		if err != nil {
			t.Fatal(err)
		}
		template := r.Method.Path
		if r.Version == V03 {
			if template = "/v1" + r.Method.Path; r.Method.Path03 != "" {
				template = r.Method.Path03
			}
		}
		built := strings.NewReplacer("{task}", r.TaskID, "{config}", r.ConfigID).Replace(template)
		if r.Tenant != "" {
			built = "/" + r.Tenant + built
		}
		if built != decoded {
			t.Fatalf("%q is routed as %q", decoded, built)
		}
		if !strings.Contains(decoded, "%") {
			if again, ok := ByRoute(verb, decoded); !ok || !reflect.DeepEqual(again, r) {
				t.Fatalf("%q is %+v, decoded it is %+v", path, r, again)
			}
		}
		for _, id := range []string{r.Tenant, r.TaskID, r.ConfigID} {
			if id == "." || id == ".." || strings.ContainsAny(id, `/\`) {
				t.Fatalf("id %q", id)
			}
		}
	})
}
