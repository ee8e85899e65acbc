package wire

import (
	"strings"
	"testing"
)

// TestExtraAnswers: wherever an extension's answer has a task that a client would take
// for one, it is shown, and if there are several each can be cut out.
func TestExtraAnswers(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	const task = `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`
	const foreign = `{"id":"u","status":{"state":"working"}}`
	for _, tt := range []struct {
		method, result string
		kind, ids      string // of tasks, each with a comma behind
		fails          bool
	}{
		{"acme.limits", `{"limit":5}`, "", "", false},
		{"acme.limits", `5`, "", "", false},
		{"acme.limits", `null`, "", "", false},
		{"acme.limits", `[1,{"id":2},"x"]`, "", "", false},
		{"acme.limits", `{"id":"l","name":"limit"}`, "", "", false},
		{"acme.limits", task, kindTask, "t,", false},
		{"acme.limits", `{"task":` + task + `}`, kindTask, "t,", false},
		{"tasks/notes", `{"task":` + task + `}`, kindTask, "t,", false},
		{"acme.limits", `{"statusUpdate":{"taskId":"t","status":{}}}`, kindStatus, "t,", false},
		{"acme.limits", `{"message":{"messageId":"m","taskId":"t"}}`, kindMessage, "t,", false},
		{"acme.limits", `{"tasks":[` + task + `,` + foreign + `],"took":1}`, kindList, "t,u,", false},
		{"tasks/notes", `{"total_size":2,"tasks":[` + task + `,` + foreign + `]}`, kindList, "t,u,", false},
		{"acme.limits", `{"tasks":[{"kind":"task","id":"t"},{}]}`, kindList, "t,,", false},
		{"acme.limits", `[` + task + `,` + foreign + `]`, kindList, "t,u,", false},
		{"acme.limits", `{"tasks":["buy milk"]}`, "", "", false},
		{"acme.limits", `{"tasks":[{"id":1,"title":"buy milk"}]}`, "", "", false},
		{"acme.limits", `{"tasks":{"id":"t"}}`, "", "", false},
		{"acme.limits", `{"tasks":[` + task + `,"t"]}`, "", "", true},
		{"acme.limits", `{"tasks":[` + task + `,{"id":7}]}`, "", "", true},
		{"acme.limits", `{"Tasks":[` + task + `]}`, "", "", true},
		{"acme.limits", `{"tasks":[],"TASKS":[` + task + `]}`, "", "", true},
		{"acme.limits", `{"tasks":[` + task + `],"task":` + foreign + `}`, "", "", true},
		{"acme.limits", `{"task":` + task + `,"message":{"messageId":"m"}}`, "", "", true},
		{"tasks/search", `{"tasks":[` + task + `,{"id":"u"},{}]}`, kindList, "t,u,,", false},
		{"tasks/search", `[{"id":"u"}]`, kindList, "u,", false},
		{"tasks/search", `{"hits":3}`, kindList, "", false},
		{"tasks/search", `null`, kindList, "", false},
		{"tasks/search", `{"tasks":null}`, kindList, "", false},
		{"tasks/search", `{"tasks":["t"]}`, "", "", true},
		{"tasks/search", `{"tasks":{}}`, "", "", true},
		{"tasks/search", `{"Tasks":[]}`, "", "", true},
		{"tasks/search", `5`, "", "", true},
		{"tasks/search", task, "", "", true},
		{"tasks/search", `{"task":` + task + `,"tasks":[]}`, "", "", true},
		{"tasks/watch", `{"tasks":[` + foreign + `]}`, kindList, "u,", false},
	} {
		for _, b := range []Binding{JSONRPC, HTTPJSON} {
			for _, v := range []Version{V03, V10} {
				body := tt.result
				if b == JSONRPC {
					body = `{"jsonrpc":"2.0","id":1,"result":` + body + `}`
				}
				a, err := ReadAnswer(b, v, extraNamed(t, e, tt.method), []byte(body), Limits{})
				if tt.fails {
					if err == nil {
						t.Errorf("%s %s: accepted %s: %+v", b, tt.method, body, a)
					}
					continue
				}
				var ids strings.Builder
				for _, ref := range a.Tasks {
					ids.WriteString(ref.ID + ",")
				}
				if err != nil || a.Error != 0 || a.Kind != tt.kind || ids.String() != tt.ids {
					t.Errorf("%s %s %s: %v, %q %q", b, tt.method, body, err, a.Kind, ids.String())
				}
				if err == nil && tt.kind == kindList && !strings.Contains(tt.ids, ",,") { // an entry without an id is no list
					checkFiltered(t, b, extraNamed(t, e, tt.method), []byte(body), a)
				}
			}
		}
	}
}

func TestExtraAnswersThatFail(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	for body, code := range map[string]int{
		`{"code":404,"message":"no"}`:                                0, // may well be a result
		`{"error":{"code":404,"status":"NOT_FOUND","message":"no"}}`: 404,
	} {
		for _, name := range []string{"tasks/search", "acme.limits"} {
			a, err := ReadAnswer(HTTPJSON, V10, extraNamed(t, e, name), []byte(body), Limits{})
			if err != nil || a.Error != code {
				t.Errorf("%s %s: %v, %d", name, body, err, a.Error)
			}
		}
	}
	for _, name := range []string{"tasks/search", "acme.limits"} {
		a, err := ReadAnswer(JSONRPC, V03, extraNamed(t, e, name), []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":""}}`), Limits{})
		if err != nil || a.Error != -32601 || a.Kind != "" {
			t.Errorf("%s: %v, %+v", name, err, a)
		}
		if _, err := ReadAnswer(HTTPJSON, V10, extraNamed(t, e, name), nil, Limits{}); err != nil {
			t.Errorf("%s: no body: %v", name, err)
		}
	}
}

// TestExtraFilter cuts what is somebody else's.
func TestExtraFilter(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	const task, foreign = `{"id":"t","status":{}}`, `{"id":"u","status":{}}`
	for body, want := range map[string]string{
		`{"tasks":[` + foreign + `, ` + task + `],"totalSize":2,"note":"x"}`: `{"tasks":[` + task + `],"totalSize":1,"note":"x"}`,
		`[ ` + task + ` , ` + foreign + ` ]`:                                 `[ ` + task + ` ]`,
	} {
		for b, wrap := range map[Binding]string{JSONRPC: `{"jsonrpc":"2.0","id":1,"result":%}`, HTTPJSON: "%"} {
			for _, name := range []string{"tasks/search", "acme.limits"} {
				doc := []byte(strings.Replace(wrap, "%", body, 1))
				a, err := ReadAnswer(b, V10, extraNamed(t, e, name), doc, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				out, err := FilterTasks(b, V10, doc, a, func(ref TaskRef) bool { return ref.ID == "t" })
				if want := strings.Replace(wrap, "%", want, 1); err != nil || string(out) != want {
					t.Errorf("%s %s: %v, %s", b, name, err, out)
				}
			}
		}
	}
}
