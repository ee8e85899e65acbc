package authdemand

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// waitingTask is a task in a state, with a data part in its status message.
func waitingTask(state, data string) string {
	return fmt.Sprintf(`{"id":"T","contextId":"C","status":{"state":%q,"message":{"messageId":"M",`+
		`"role":"ROLE_AGENT","parts":[{"data":%s}]}}}`, state, data)
}

// TestReadDemandForms: one demand, in the forms that versions and bindings give it.
func TestReadDemandForms(t *testing.T) {
	t.Parallel()
	want := Demand{
		State: authRequired, Task: "T", Context: "C",
		Audiences: []string{"https://crm.example"}, Scopes: []string{"read", "write"},
		Links: []string{"https://crm.example", "https://login.example/go"},
	}
	const data = `{"audience":"https://crm.example","scope":"read write","url":"https://login.example/go"}`
	const old = `"message":{"kind":"message","messageId":"M","role":"agent","parts":[{"kind":"data","data":` + data + `}]}`
	task := waitingTask(authRequired, data)
	forms := map[string]string{
		"1.0 task":               task,
		"1.0 task, data in data": waitingTask(authRequired, `{"data":`+data+`}`),
		"1.0 SendMessage":        `{"task":` + task + `}`,
		"1.0 JSON-RPC":           `{"jsonrpc":"2.0","id":1,"result":` + task + `}`,
		"1.0 JSON-RPC, send":     `{"jsonrpc":"2.0","id":1,"result":{"task":` + task + `}}`,
		"1.0 JSON-RPC, id last":  `{"result":{"task":` + task + `},"id":1,"jsonrpc":"2.0"}`,
		"1.0 update": `{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_AUTH_REQUIRED",` +
			`"message":{"messageId":"M","parts":[{"data":` + data + `}]}}}}`,
		"1.0 update, snake_case": `{"status_update":{"task_id":"T","context_id":"C","status":` +
			`{"state":"TASK_STATE_AUTH_REQUIRED","message":{"parts":[{"data":` + data + `}]}}}}`,
		"1.0 message before state": `{"id":"T","contextId":"C","status":{"message":{"parts":[{"data":` + data +
			`}]},"state":"TASK_STATE_AUTH_REQUIRED"}}`,
		"1.0 state by number": strings.Replace(task, `"TASK_STATE_AUTH_REQUIRED"`, ` 8`, 1),
		"1.0 state escaped":   strings.Replace(task, `AUTH_REQ`, `\u0041UTH_REQ`, 1),
		"1.0 metadata of the message": `{"id":"T","contextId":"C","status":{"state":"TASK_STATE_AUTH_REQUIRED",` +
			`"message":{"parts":[],"metadata":` + data + `}}}`,
		"1.0 metadata of the update": `{"statusUpdate":{"taskId":"T","contextId":"C","status":` +
			`{"state":"TASK_STATE_AUTH_REQUIRED"},"metadata":{"https://ext.example/v1":` + data + `}}}`,
		"0.3 task": `{"kind":"task","id":"T","contextId":"C","status":{"state":"auth-required",` + old + `}}`,
		"0.3 update": `{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","taskId":"T","contextId":"C",` +
			`"final":false,"status":{"state" : "auth-required",` + old + `}}}`,
		"0.3 HTTP+JSON": `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_AUTH_REQUIRED",` +
			`"update":{"messageId":"M","content":[{"data":{"data":` + data + `}}]}}}}`,
		"0.1 task": `{"jsonrpc":"2.0","id":1,"result":{"id":"T","sessionId":"C","status":{"state":"auth-required",` +
			`"message":{"role":"agent","parts":[{"type":"data","data":` + data + `}]}}}}`,
	}
	for name, body := range forms {
		got, ok := Read([]byte(body))
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
}

// TestReadDemandNone: what waits for nothing, or for nothing of the kind.
func TestReadDemandNone(t *testing.T) {
	t.Parallel()
	const wanting = `{"auth":{"scope":"read"}}`
	for name, body := range map[string]string{
		"working":             waitingTask("TASK_STATE_WORKING", wanting),
		"completed":           waitingTask("TASK_STATE_COMPLETED", wanting),
		"no state":            `{"id":"T","status":{"message":{"parts":[{"data":` + wanting + `}]}}}`,
		"another's number":    strings.Replace(waitingTask("x", wanting), `"x"`, `3`, 1),
		"only input":          waitingTask(inputRequired, `{"question":"Which colour?"}`),
		"input in words":      waitingTask(inputRequired, `"Please log in: auth at https://login.example"`),
		"a state in words":    waitingTask("TASK_STATE_WORKING", `"\"state\":\"TASK_STATE_AUTH_REQUIRED\""`),
		"a state elsewhere":   waitingTask("TASK_STATE_WORKING", `{"status":{"state":"TASK_STATE_AUTH_REQUIRED"}}`),
		"result, no JSON-RPC": `{"result":` + waitingTask(authRequired, wanting) + `}`,
		"wrapped twice":       `{"task":{"task":` + waitingTask(authRequired, wanting) + `}}`,
		"list of tasks":       `{"tasks":[` + waitingTask(authRequired, wanting) + `]}`,
		"error":               `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"TASK_STATE_AUTH_REQUIRED"}}`,
		"array":               `["state",{"state":"auth-required"}]`,
		"broken":              waitingTask(authRequired, wanting)[1:],
		"cut off":             `{"status":{"state":"auth-required"}`,
		"name at the end":     `"state"`,
		"colon at the end":    `"state":`,
		"empty":               ``,
	} {
		if got, ok := Read([]byte(body)); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestReadDemandInput: input counts where a name says that it is an authorization.
func TestReadDemandInput(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"authentication":{}}`, `{"auth":null}`, `{"authConfig":1}`, `{"auth_config":1}`, `{"authRequest":{}}`,
		`{"auth_requests":[]}`, `{"auth-scheme":""}`, `{"AuthSchemes":{}}`, `{"securityRequirements":[]}`,
		`{"security_schemes":{}}`, `{"WWW-Authenticate":"Bearer"}`, `{"resource_metadata":"x"}`,
		`{"authorizationUrl":"x"}`, `{"authURL":"x"}`, `{"auth_uri":"x"}`, `{"authorization_uri":"x"}`,
		`{"verification_uri":"x"}`, `{"verification_uri_complete":"x"}`, `{"device_code":"x"}`,
		`{"a":[{"b":{"\u0061uth":1}}]}`,
		`{"name":"adk_request_credential","id":"adk-1","args":{}}`,
	} {
		if got, ok := Read([]byte(waitingTask(inputRequired, data))); !ok || got.State != inputRequired {
			t.Errorf("%s: %v %+v", data, ok, got)
		}
	}
	for _, data := range []string{
		`{"author":"x"}`, `{"authenticated":true}`, `{"scope":"read"}`, `{"name":"request_colour"}`,
		`{"title":"adk_request_credential"}`, `{"a_very_long_name_that_ends_with_auth":1}`, `{"x":"auth"}`,
	} {
		if got, ok := Read([]byte(waitingTask(inputRequired, data))); ok {
			t.Errorf("%s: %+v", data, got)
		}
	}
}

// TestReadDemandValues: what counts as an audience or a scope, and how many.
func TestReadDemandValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data        string
		audiences, scopes []string
	}{
		{"spellings", `{"AUD":"a","audience":"b","Audiences":["c"],"resource":"d","resources":["e"],` +
			`"scope":"1","Scopes":["2"],"required_scopes":["3"],"required-Scopes":"4","requiredScopes":["5"]}`,
			[]string{"a", "b", "c", "d", "e"}, []string{"1", "2", "3", "4", "5"}},
		{"once, in order", `[{"aud":["b","a","b"]},{"x":{"aud":"a","scope":"z  y z"}}]`,
			[]string{"b", "a"}, []string{"z", "y"}},
		{"no strings", `{"aud":1,"scope":{"read":"may read"},"resource":null,"scopes":[true,["in"]]}`,
			nil, []string{"in"}},
		{"objects inside", `{"resource":{"url":"u","aud":"a"},"scope":[{"scope":"s"},{"name":"n"}]}`,
			[]string{"a"}, []string{"s"}},
		{"not printable", `{"aud":["","a\u0000","b\n"],"scope":"é \u0001 \\ ok"}`, nil, []string{"ok"}},
		{"too long", `{"aud":"` + strings.Repeat("a", 1025) + `","scope":"` + strings.Repeat("s", 257) + `"}`, nil, nil},
		{"as long as may be", `{"aud":"` + strings.Repeat("a", 1024) + `"}`, []string{strings.Repeat("a", 1024)}, nil},
	}
	for _, tt := range tests {
		got, ok := Read([]byte(waitingTask(authRequired, tt.data)))
		want := Demand{State: authRequired, Task: "T", Context: "C", Audiences: tt.audiences, Scopes: tt.scopes}
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, ok, diff)
		}
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`{"aud":"a%d","scope":"s%d"}`, i, i))
	}
	got, _ := Read([]byte(waitingTask(authRequired, "["+strings.Join(many, ",")+"]")))
	if len(got.Audiences) != mostAudiences || len(got.Scopes) != mostScopes || got.Audiences[31] != "a31" {
		t.Errorf("%d audiences, %d scopes", len(got.Audiences), len(got.Scopes))
	}
}
