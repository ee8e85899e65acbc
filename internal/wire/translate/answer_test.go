package translate

import (
	"errors"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// answerCase is what a method returned on one side, and what it becomes on another.
type answerCase struct {
	name   string
	method string // 1.0 name; SendMessage if empty
	from   wire.Side
	to     wire.Side
	call   wire.Call // of the caller: its ids
	edit   func(*Retelling)
	in     string
	want   string
}

const (
	golden10 = `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-21T08:13:46.575Z"},
		"artifacts":[{"artifactId":"a1","parts":[{"data":[1,2]},{"raw":"aGV5","filename":"f.txt","mediaType":"text/plain"}]}],
		"history":[{"messageId":"m","contextId":"C","taskId":"T","role":"ROLE_USER","parts":[{"text":"go"}]}]}}`
	golden03 = `{"kind":"task","id":"T","contextId":"C","status":{"state":"completed","timestamp":"2026-11-21T08:13:46.575Z"},
		"history":[{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}],"contextId":"C","taskId":"T"}],
		"artifacts":[{"artifactId":"a1","parts":[{"kind":"data","data":{"value":[1,2]},"metadata":{"data_part_compat":true}},
		{"kind":"file","file":{"bytes":"aGV5","mimeType":"text/plain","name":"f.txt"}}]}]}`
	goldenP3 = `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-21T08:13:46.575Z"},
		"artifacts":[{"artifactId":"a1","parts":[{"data":{"data":{"value":[1,2]}},"metadata":{"data_part_compat":true}},
		{"file":{"fileWithBytes":"YUdWNQ==","mimeType":"text/plain","name":"f.txt"}}]}],
		"history":[{"messageId":"m","contextId":"C","taskId":"T","role":"ROLE_USER","content":[{"text":"go"}]}]}}`
	golden01 = `{"id":"T","sessionId":"C","status":{"state":"completed","timestamp":"2026-11-21T08:13:46.575Z"},
		"history":[{"role":"user","parts":[{"type":"text","text":"go"}]}],
		"artifacts":[{"index":0,"parts":[{"type":"data","data":{"value":[1,2]},"metadata":{"data_part_compat":true}},
		{"type":"file","file":{"bytes":"aGV5","mimeType":"text/plain","name":"f.txt"}}]}]}`
)

// goldens are one task in every dialect, as SDKs write it (where they lose nothing).
var goldens = map[wire.Side]string{
	rpc01: golden01, rpc03: golden03, http03: goldenP3, grpc03: goldenP3, rpc10: golden10, http10: golden10, grpc10: golden10,
}

func TestGoldenTask(t *testing.T) {
	t.Parallel()
	for _, from := range sides() {
		for _, to := range sides() {
			if from.Version == wire.V01 && to.Version != wire.V01 {
				continue // has lost ids
			}
			r := Retelling{From: from, Call: callOf(to, "SendMessage", wire.Call{})}
			got, err := answerOf(t, &r, goldens[from])
			if err != nil {
				t.Fatalf("%v to %v: %v", from, to, err)
			}
			equal(t, from.String()+" to "+to.String(), goldens[to], []byte(got))
		}
	}
}

func callOf(side wire.Side, method string, c wire.Call) *wire.Call {
	if method == "" {
		method = wire.SendMessage
	}
	c.Binding, c.Version, c.Method = side.Binding, side.Version, methodNamed(method)
	c.Streaming = c.Method.Streams
	if side.Binding == wire.JSONRPC {
		c.ID = []byte(`9007199254740993`)
	}
	return &c
}

var answers = []answerCase{
	{
		name: "1.0 to 1.0 on gRPC: other names and words", from: http10, to: grpc10,
		in: `{"task":{"id":"T","context_id":"C","status":{"state":"cancelled","update":{"messageId":"m","role":"agent",
			"content":[{"text":"x"}],"y":1},"message":null},"history":[]}}`,
		want: `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_CANCELED","message":{"messageId":"m",
			"role":"ROLE_AGENT","parts":[{"text":"x"}]}}}}`,
	},
	{
		name: "a message under the proto's name 0.3 to 0.3 on gRPC", from: http03, to: grpc03,
		in:   `{"msg":{"messageId":"m","role":"agent","parts":[{"text":"x"}]}}`,
		want: `{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"text":"x"}]}}`,
	},
	{
		name: "message 1.0 to 0.3", from: rpc10, to: rpc03,
		in:   `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"url":"u"}],"metadata":{"x":[]},"unknown":1}}`,
		want: `{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"file","file":{"uri":"u"}}],"metadata":{"x":[]}}`,
	},
	{
		name: "message 0.3 to 1.0: the role of an agent need not be said", from: rpc03, to: http10,
		in:   `{"kind":"message","messageId":"m","role":"robot","parts":[{"kind":"data","data":["raw"]}],"extensions":["e"]}`,
		want: `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":["raw"]}],"extensions":["e"]}}`,
	},
	{
		name: "message to 0.1 is a finished task", from: http10, to: rpc01, call: wire.Call{TaskID: "mine", ContextID: "S"},
		in: `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":""}]}}`,
		want: `{"id":"mine","sessionId":"S","status":{"state":"completed",
			"message":{"role":"agent","parts":[{"type":"text","text":""}]}}}`,
	},
	{
		name: "0.1 to 1.0: artifacts by number", from: rpc01, to: rpc10, call: wire.Call{ContextID: "C"},
		in: `{"id":"T","sessionId":null,"status":{"state":"working","timestamp":"2025-04-01T10:00:00.123456"},"history":null,
			"artifacts":[{"name":"x","parts":[],"index":3,"lastChunk":true},{"parts":[{"type":"text","text":"a"}]}]}`,
		want: `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING","timestamp":"2025-04-01T10:00:00.123Z"},
			"artifacts":[{"artifactId":"artifact-3","name":"x","parts":[]},{"artifactId":"artifact-1","parts":[{"text":"a"}]}]}}`,
	},
	{
		name: "get 1.0 to 0.3: what 0.3 requires is there", method: "GetTask", from: grpc10, to: rpc03,
		in:   `{"id":"T","status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"m","role":"ROLE_AGENT"}}}`,
		want: `{"kind":"task","id":"T","contextId":"","status":{"state":"auth-required","message":{"kind":"message","messageId":"m","role":"agent","parts":[]}}}`,
	},
	{
		name: "get without status", method: "GetTask", from: http10, to: rpc03, call: wire.Call{ContextID: "C"},
		in: `{"id":"T"}`, want: `{"kind":"task","id":"T","contextId":"C","status":{"state":"unknown"}}`,
	},
	{
		name: "states that 0.1 has not", method: "GetTask", from: rpc03, to: rpc01,
		in: `{"kind":"task","id":"T","status":{"state":"rejected","timestamp":"any"}}`, want: `{"id":"T","status":{"state":"failed","timestamp":"any"}}`,
	},
	{
		name: "cancel to 0.3's ProtoJSON", method: "CancelTask", from: rpc10, to: grpc03,
		in:   `{"id":"T","contextId":"C","status":{"state":5,"timestamp":"2026-01-01T01:00:00+01:00"}}`,
		want: `{"id":"T","contextId":"C","status":{"state":"TASK_STATE_CANCELLED","timestamp":"2026-01-01T00:00:00Z"}}`,
	},
	{
		name: "aliases everywhere", method: "GetTask", from: rpc03, to: rpc10, call: wire.Call{TaskID: "server", ContextID: "sc"},
		edit: func(r *Retelling) { r.Task, r.Context = Alias{"server", "mine"}, Alias{"sc", "cc"} },
		in: `{"kind":"task","id":"ser\u0076er","contextId":"sc","status":{"state":"working","message":{"kind":"message","messageId":"m",
			"taskId":"server","contextId":"sc","role":"agent","parts":[]}},"history":[{"kind":"message","messageId":"n","taskId":"other","role":"user","parts":[]}]}`,
		want: `{"id":"mine","contextId":"cc","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","taskId":"mine",
			"contextId":"cc","role":"ROLE_AGENT","parts":[]}},"history":[{"messageId":"n","taskId":"other","role":"ROLE_USER","parts":[]}]}`,
	},
	{
		name: "aliases and history within a dialect", method: "GetTask", from: rpc10, to: http10,
		edit: func(r *Retelling) { r.Context, r.History = Alias{"sc", "cc"}, new(int) },
		in:   `{"new":1.0,"id":"T","contextId":"sc","status":{"state":"S","message":null},"history":[{"messageId":"m"}]}`,
		want: `{"new":1.0,"id":"T","contextId":"cc","status":{"state":"S","message":null}}`,
	},
	{
		name: "history is cut from the front", method: "GetTask", from: rpc03, to: http10,
		edit: func(r *Retelling) { one := 1; r.History = &one },
		in: `{"kind":"task","id":"T","contextId":"C","status":{"state":"working"},"history":[{"messageId":"a","role":"user","parts":[]},
			{"messageId":"b","role":"user","parts":[]}]}`,
		want: `{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"},"history":[{"messageId":"b","role":"ROLE_USER","parts":[]}]}`,
	},
	{
		name: "a list loses no member", method: "ListTasks", from: grpc10, to: rpc10,
		in:   `{"tasks":[{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}]}`,
		want: `{"tasks":[{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}],"nextPageToken":"","pageSize":0,"totalSize":0}`,
	},
	{
		name: "an empty list of a Go agent", method: "ListTasks", from: rpc10, to: http10,
		in: `null`, want: `{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}`,
	},
	{
		name: "push 1.0 to 0.3", method: createConfig, from: rpc10, to: rpc03,
		in:   `{"tenant":"t","taskId":"T","id":"c","url":"w","token":"k","authentication":{"scheme":"Bearer","credentials":"s"}}`,
		want: `{"taskId":"T","pushNotificationConfig":{"id":"c","url":"w","token":"k","authentication":{"schemes":["Bearer"],"credentials":"s"}}}`,
	},
	{
		name: "push 0.3's ProtoJSON to 1.0", method: getConfig, from: http03, to: rpc10, call: wire.Call{TaskID: "T", ConfigID: "c"},
		in: `{"name":"tasks/T/pushNotificationConfigs/c","pushNotificationConfig":{"url":"w"}}`, want: `{"taskId":"T","id":"c","url":"w"}`,
	},
	{
		name: "push 0.3's ProtoJSON, a name of another form", method: getConfig, from: http03, to: rpc10,
		call: wire.Call{TaskID: "mine", ConfigID: "c"}, edit: func(r *Retelling) { r.Task = Alias{"T", "mine"} },
		in:   `{"name":"tasks/T/configs/c/pushNotificationConfigs/d","pushNotificationConfig":{"url":"w"}}`,
		want: `{"taskId":"mine","id":"c","url":"w"}`,
	},
	{
		name: "push 0.1 to 0.3's ProtoJSON", method: getConfig, from: rpc01, to: grpc03, call: wire.Call{TaskID: "T", ConfigID: "c"},
		in: `{"id":"T","pushNotificationConfig":{"url":"w"}}`, want: `{"name":"tasks/T/pushNotificationConfigs/c","pushNotificationConfig":{"id":"c","url":"w"}}`,
	},
	{
		name: "push within 1.0", method: getConfig, from: rpc10, to: http10, call: wire.Call{TaskID: "T", ConfigID: "c"},
		in: `{"tenant":"t","taskId":"T","id":"c","url":"w","x":{}}`, want: `{"taskId":"T","id":"c","url":"w","x":{}}`,
	},
	{
		name: "push list 0.3 to 1.0", method: listConfigs, from: rpc03, to: rpc10,
		in:   `[{"taskId":"T","pushNotificationConfig":{"id":"a","url":"u"}},{"taskId":"T","pushNotificationConfig":{"id":"b","url":"v"}}]`,
		want: `{"configs":[{"taskId":"T","id":"a","url":"u"},{"taskId":"T","id":"b","url":"v"}],"nextPageToken":""}`,
	},
	{
		name: "push list 1.0 to 0.3", method: listConfigs, from: http10, to: rpc03,
		in: `{"configs":[{"taskId":"T","id":"a","url":"u"}],"nextPageToken":""}`, want: `[{"taskId":"T","pushNotificationConfig":{"id":"a","url":"u"}}]`,
	},
	{
		name: "push list of nothing", method: listConfigs, from: grpc10, to: rpc03, in: `{}`, want: `[]`,
	},
	{
		name: "push list 0.3's ProtoJSON to 1.0", method: listConfigs, from: grpc03, to: http10,
		in:   `{"configs":[{"name":"tasks/T/pushNotificationConfigs/a","pushNotificationConfig":{"id":"a","url":"u"}}],"nextPageToken":"p"}`,
		want: `{"configs":[{"taskId":"T","id":"a","url":"u"}],"nextPageToken":"p"}`,
	},
	{
		name: "push list of 0.1's one", method: listConfigs, from: rpc01, to: rpc03, call: wire.Call{TaskID: "T"},
		in: `{"id":"T","pushNotificationConfig":{"url":"u"}}`, want: `[{"taskId":"T","pushNotificationConfig":{"id":"T","url":"u"}}]`,
	},
	{
		name: "the first of a list", method: getConfig, from: rpc10, to: rpc03, call: wire.Call{TaskID: "T"},
		in: `{"configs":[{"taskId":"T","id":"a","url":"u"},{"taskId":"T","id":"b","url":"u"}]}`, want: `{"taskId":"T","pushNotificationConfig":{"id":"a","url":"u"}}`,
	},
	{name: "delete to 0.3", method: deleteConfig, from: http10, to: rpc03, in: ``, want: `null`},
	{name: "delete to 1.0", method: deleteConfig, from: rpc03, to: rpc10, in: ``, want: `{}`},
	{name: "delete to 0.3 on HTTP", method: deleteConfig, from: grpc10, to: http03, in: `{}`, want: `{}`},
	{name: "delete to gRPC", method: deleteConfig, from: rpc03, to: grpc10, in: `null`, want: `{}`},
	{name: "a card is only wrapped", method: "GetExtendedAgentCard", from: http03, to: rpc10, in: `{"name":"x","y":null}`, want: `{"name":"x","y":null}`},
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range answers {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := Retelling{From: test.from, Call: callOf(test.to, test.method, test.call)}
			if test.edit != nil {
				test.edit(&r)
			}
			got, err := answerOf(t, &r, test.in)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "result", test.want, []byte(got))
		})
	}
}

func TestAnswerRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, in string
		from, to         wire.Side
		want             *wire.Kind
	}{
		{"no task in 0.1", "", `null`, rpc01, rpc10, wire.BadAgentResponse},
		{"an empty body", "", ``, http10, rpc03, wire.BadAgentResponse},
		{"neither task nor message", "", `{"x":1}`, rpc10, rpc03, wire.BadAgentResponse},
		{"a status that is none", "GetTask", `{"id":"T","status":7}`, rpc10, rpc03, wire.BadAgentResponse},
		{"history that is none", "GetTask", `{"id":"T","status":{},"history":{}}`, rpc10, rpc03, wire.BadAgentResponse},
		{"a message instead of a task", "GetTask", `{"kind":"message","messageId":"m"}`, rpc03, rpc10, wire.BadAgentResponse},
		{"a part of two kinds", "", `{"message":{"messageId":"m","parts":[{"text":"a","url":"b"}]}}`, rpc10, rpc03, wire.BadAgentResponse},
		{"a part of no kind", "", `{"kind":"message","messageId":"m","parts":[{"kind":"text"}]}`, rpc03, rpc10, wire.BadAgentResponse},
		{"a task that no message fits", "", `{"kind":"task","id":"T","status":{"state":"working"},"metadata":7}`, rpc03, grpc10, wire.BadAgentResponse},
		{"no config", getConfig, `{"configs":[]}`, http10, rpc03, wire.TaskNotFound},
		{"no config on gRPC", getConfig, `{}`, grpc10, rpc01, wire.TaskNotFound},
		{"no list", "ListTasks", `[]`, rpc10, http10, wire.BadAgentResponse},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := Retelling{From: test.from, Call: callOf(test.to, test.method, wire.Call{TaskID: "T"})}
			got, err := answerOf(t, &r, test.in)
			var e *wire.Error
			if !errors.As(err, &e) || e.Kind != test.want {
				t.Errorf("got %s and %v, want %s", got, err, test.want.Reason)
			}
		})
	}
}
