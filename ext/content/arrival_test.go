package content_test

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// moving is a registry in which pay and stamp have states.
func moving(mode ext.Mode) ext.Registry {
	r := registry()
	r[0].Kind, r[0].Validation = ext.States, mode
	r[0].States = &ext.StatesConfig{
		Key:     "pay.status",
		Initial: []string{"asked"}, Transitions: map[string][]string{"asked": {"paid"}},
	}
	r[1].Kind = ext.States
	r[1].States = &ext.StatesConfig{Key: "stamped", Initial: []string{"yes"}}
	return r
}

func TestArrivals(t *testing.T) {
	t.Parallel()
	update := func(side wire.Side, text string) document {
		return document{side: side, method: wire.SendStreamingMessage, answer: true, text: `{"jsonrpc":"2.0","id":1,"result":` + text + `}`}
	}
	for name, tc := range map[string]struct {
		doc    document
		active ext.Set // pay if nil
		want   string  // task, task state, state and pointer of each
	}{
		"nothing": {doc: result(`{"task":{"id":"t","metadata":{"x":1}}}`)},
		"a task": {
			doc:  result(`{"task":{"id":"t","metadata":{"pay.status":"asked"},"status":{"state":"TASK_STATE_WORKING"}}}`),
			want: `t TASK_STATE_WORKING "asked" /result/task/metadata/pay.status`,
		},
		"a task whose status says it too": {
			doc: result(`{"task":{"status":{"message":{"messageId":"m","metadata":{"pay.status":"paid"}},"state":"TASK_STATE_WORKING"},
				"metadata":{"pay.status":"asked"},"id":"t"}}`),
			want: `
				t TASK_STATE_WORKING "asked" /result/task/metadata/pay.status
				t TASK_STATE_WORKING "paid" /result/task/status/message/metadata/pay.status
			`,
		},
		"a status update": {
			doc: update(rpc10, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",
				"message":{"messageId":"m","metadata":{"pay.status":{"state":"asked","of":2}}}}}}`),
			want: `t TASK_STATE_INPUT_REQUIRED "asked" /result/statusUpdate/status/message/metadata/pay.status`,
		},
		"an update's own": {
			doc: update(rpc03, `{"kind":"status-update","taskId":"t","contextId":"c","final":false,
				"metadata":{"pay.status":"paid"},"status":{"state":"input-required"}}`),
			want: `t TASK_STATE_INPUT_REQUIRED "paid" /result/metadata/pay.status`,
		},
		"an artifact update": {
			doc:  update(rpc10, `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a"},"metadata":{"pay.status":"paid"}}}`),
			want: `t - "paid" /result/artifactUpdate/metadata/pay.status`,
		},
		"gRPC of 0.3": {
			doc: document{side: grpc03, answer: true, text: `{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING",
				"update":{"messageId":"m","metadata":{"pay.status":"asked"}}}}}`},
			want: `t TASK_STATE_WORKING "asked" /task/status/update/metadata/pay.status`,
		},
		"a list": {
			doc: document{side: rest10, method: wire.ListTasks, answer: true, text: `{"tasks":[
				{"id":"1","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","metadata":{"pay.status":"a"}}},"metadata":{"pay.status":"b"}},
				{"id":"2","metadata":{"pay.status":"c"}},
				{"id":"3","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"pay.status":"d"}}]}`},
			want: `
				1 TASK_STATE_WORKING "b" /tasks/0/metadata/pay.status
				1 TASK_STATE_WORKING "a" /tasks/0/status/message/metadata/pay.status
				2 - "c" /tasks/1/metadata/pay.status
				3 TASK_STATE_COMPLETED "d" /tasks/2/metadata/pay.status
			`,
		},
		"a task around another": {
			doc:  result(`{"id":"t","metadata":{"pay.status":"x"},"tasks":[{"id":"u","status":{"state":"TASK_STATE_WORKING"}}]}`),
			want: `t - "x" /result/metadata/pay.status`,
		},
		"where nobody says a task's state": {
			doc: result(`{"task":{"id":"t","artifacts":[{"artifactId":"a","metadata":{"pay.status":"x"},"parts":[{"text":"","metadata":{"pay.status":"x"}}]}],
				"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","extensions":["pay.status"],"parts":[{"text":"","metadata":{"pay.status":"x"}}]}},
				"history":[{"messageId":"h","metadata":{"pay.status":"x"}}]}}`),
		},
		"a message without a task":    {doc: result(`{"message":{"messageId":"m","taskId":"t","metadata":{"pay.status":"x"}}}`)},
		"a request":                   {doc: params(`{"metadata":{"pay.status":"paid"},"message":{"messageId":"m","taskId":"t","metadata":{"pay.status":"paid"}}}`)},
		"an extension without states": {doc: result(`{"task":{"id":"t","metadata":{"pay.status":"x"}}}`), active: ext.Set{stampPro, local}},
		"another key":                 {doc: result(`{"task":{"id":"t","metadata":{"pay.status":"x"}}}`), active: ext.Set{stamp}},
		"two machines": {
			doc:    result(`{"task":{"id":"t","metadata":{"pay.status":"asked","stamped":"yes"},"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","metadata":{"stamped":"no"}}}}}`),
			active: ext.Set{stamp, pay},
			want: `
				t TASK_STATE_WORKING "yes" /result/task/metadata/stamped
				t TASK_STATE_WORKING "asked" /result/task/metadata/pay.status
				t TASK_STATE_WORKING "no" /result/task/status/message/metadata/stamped
			`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.active == nil {
				tc.active = ext.Set{pay}
			}
			terms := content.Terms{Book: compile(t, moving("")), Active: tc.active, Answer: tc.doc.answer}
			if got := arrived(terms.Arrivals(read(t, tc.doc))); got != text(tc.want) {
				t.Errorf("got\n%swant\n%s", got, text(tc.want))
			}
			terms.Answer = false
			if got := terms.Arrivals(read(t, tc.doc)); got != nil {
				t.Errorf("of a caller's document: %v", got)
			}
		})
	}
}

func TestArrivalsReadStates(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"asked"`:           "asked",
		`"\u0061sked"`:      "asked",
		`""`:                "",
		`{"state":"asked"}`: "asked",
		`{"a":[{"state":"x"}],"state":"asked","b":{}}`: "asked",
		`{"State":"asked"}`:                            "",
		`{"state":7}`:                                  "",
		`{"state":null}`:                               "",
		`{}`:                                           "",
		`["asked"]`:                                    "",
		`1`:                                            "",
		`null`:                                         "",
		`true`:                                         "",
	} {
		terms := content.Terms{Book: compile(t, moving("")), Active: ext.Set{pay}, Answer: true}
		got := terms.Arrivals(read(t, result(`{"task":{"id":"t","metadata":{"pay.status":`+value+`}}}`)))
		if len(got) != 1 || got[0].State != want || got[0].Extension != pay || !got[0].Enforced {
			t.Errorf("%s: %+v, want the state %q", value, got, want)
		}
	}
}

func TestArrivalsKeepTheMode(t *testing.T) {
	t.Parallel()
	doc := result(`{"task":{"id":"t","metadata":{"pay.status":"asked"}}}`)
	for mode, want := range map[ext.Mode]string{ext.Off: "", ext.Report: "false", ext.Enforce: "true", "": "true"} {
		terms := content.Terms{Book: compile(t, moving(mode)), Active: ext.Set{pay}, Answer: true}
		got := ""
		for _, a := range terms.Arrivals(read(t, doc)) {
			got += fmt.Sprint(a.Enforced)
		}
		if got != want {
			t.Errorf("validation %q: enforced %q, want %q", mode, got, want)
		}
	}
}

// arrived are arrivals as the tests compare them.
func arrived(list []content.Arrival) string {
	got := ""
	for _, a := range list {
		if a.Within == "" {
			a.Within = "-"
		}
		got += fmt.Sprintf("%s %s %q %s\n", a.Task, a.Within, a.State, a.Pointer)
	}
	return got
}
