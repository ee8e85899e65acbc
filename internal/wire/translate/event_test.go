package translate

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// eventCase is a stream on one side, and what becomes of it on another.
type eventCase struct {
	name     string
	from, to wire.Side
	call     wire.Call
	edit     func(*Retelling)
	in, want []string
}

var streams = []eventCase{
	{
		name: "1.0 to 0.3", from: rpc10, to: rpc03,
		in: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"}}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING","timestamp":"t"}}}`,
			`{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":false}}`,
			`{"statusUpdate":{"taskId":"T","status":{"state":"TASK_STATE_INPUT_REQUIRED"},"metadata":{"a":1}}}`,
		},
		want: []string{
			`{"kind":"task","id":"T","contextId":"C","status":{"state":"submitted"}}`,
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"working","timestamp":"t"},"final":false}`,
			`{"kind":"artifact-update","taskId":"T","contextId":"C","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]},"append":true,"lastChunk":false}`,
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"input-required"},"final":true,"metadata":{"a":1}}`,
		},
	},
	{
		name: "auth-required does not end a stream", from: grpc10, to: rpc03,
		in:   []string{`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}`},
		want: []string{`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"auth-required"},"final":false}`},
	},
	{
		name: "0.3 to 1.0: a task comes first", from: rpc03, to: http10,
		in: []string{
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"working"},"final":false}`,
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"completed"},"final":true}`,
		},
		want: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		},
	},
	{
		name: "0.3 to 1.0: but not as an ended one", from: http03, to: rpc10, call: wire.Call{TaskID: "T", ContextID: "C"},
		in: []string{`{"statusUpdate":{"status":{"state":"TASK_STATE_CANCELLED"},"final":true}}`},
		want: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"}}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_CANCELED"}}}`,
		},
	},
	{
		name: "0.3 to 1.0: the agent's own task is enough", from: grpc03, to: grpc10,
		in: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"a"}}}`,
		},
		want: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"a"}}}`,
		},
	},
	{
		name: "a message alone", from: rpc03, to: rpc10,
		in:   []string{`{"kind":"message","messageId":"m","role":"agent","parts":[]}`},
		want: []string{`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`},
	},
	{
		name: "a message alone to 0.1", from: rpc03, to: rpc01, call: wire.Call{TaskID: "mine"},
		in:   []string{`{"kind":"message","messageId":"m","role":"agent","parts":[]}`},
		want: []string{`{"id":"mine","status":{"state":"completed","message":{"role":"agent","parts":[]}},"final":true}`},
	},
	{
		name: "1.0 to 0.1: an ended task", from: rpc10, to: rpc01,
		edit: func(r *Retelling) { r.Task = Alias{"T", "mine"} },
		in: []string{`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_REJECTED"},"metadata":{"a":1},
			"artifacts":[{"artifactId":"x","parts":[{"text":"1"}]},{"artifactId":"y","parts":[{"text":"2"}]}]}}`},
		want: []string{
			`{"id":"mine","artifact":{"index":0,"parts":[{"type":"text","text":"1"}]}}`,
			`{"id":"mine","artifact":{"index":1,"parts":[{"type":"text","text":"2"}]}}`,
			`{"id":"mine","status":{"state":"failed"},"final":true,"metadata":{"a":1}}`,
		},
	},
	{
		name: "0.3 to 0.1: artifacts are numbered as they appear", from: rpc03, to: rpc01,
		edit: func(r *Retelling) { r.Task = Alias{"T", "mine"} },
		in: []string{
			`{"kind":"task","id":"T","contextId":"C","status":{"state":"working"},"artifacts":[{"artifactId":"x","parts":[]}]}`,
			`{"kind":"artifact-update","taskId":"T","contextId":"C","artifact":{"artifactId":"y","parts":[]},"append":false}`,
			`{"kind":"artifact-update","taskId":"T","contextId":"C","artifact":{"artifactId":"x","parts":[]},"append":true,"lastChunk":true}`,
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"working"},"final":true}`,
		},
		want: []string{
			`{"id":"mine","status":{"state":"working"},"final":false}`,
			`{"id":"mine","artifact":{"index":0,"parts":[]}}`,
			`{"id":"mine","artifact":{"index":1,"parts":[],"append":false}}`,
			`{"id":"mine","artifact":{"index":0,"parts":[],"append":true,"lastChunk":true}}`,
			`{"id":"mine","status":{"state":"working"},"final":true}`,
		},
	},
	{
		name: "0.3's ProtoJSON to 0.1: the end is said though the agent does not", from: grpc03, to: rpc01,
		in: []string{
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`,
		},
		want: []string{
			`{"id":"T","status":{"state":"working"},"final":false}`,
			`{"id":"T","status":{"state":"input-required"},"final":true}`,
		},
	},
	{
		name: "0.1 to 1.0: a task that was asked for", from: rpc01, to: rpc10,
		in: []string{
			`{"id":"T","sessionId":"C","status":{"state":"working"},"history":[]}`,
			`{"id":"T","status":{"state":"completed"},"final":true}`,
		},
		want: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		},
	},
	{
		name: "0.1 to 0.3", from: rpc01, to: rpc03, call: wire.Call{TaskID: "T", ContextID: "C"},
		in: []string{
			`{"id":"T","status":{"state":"working"},"final":false,"metadata":null}`,
			`{"id":"T","artifact":{"parts":[{"type":"text","text":"a"}],"index":2,"append":true,"lastChunk":null}}`,
			`{"id":"T","status":{"state":"completed"},"final":true}`,
		},
		want: []string{
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"working"},"final":false}`,
			`{"kind":"artifact-update","taskId":"T","contextId":"C","artifact":{"artifactId":"artifact-2","parts":[{"kind":"text","text":"a"}]},"append":true}`,
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"completed"},"final":true}`,
		},
	},
	{
		name: "0.1 to 1.0", from: rpc01, to: grpc10, call: wire.Call{TaskID: "T", ContextID: "C"},
		in: []string{`{"id":"T","artifact":{"parts":[{"type":"text","text":"a"}],"lastChunk":true}}`},
		want: []string{
			`{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_SUBMITTED"}}}`,
			`{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"artifact-0","parts":[{"text":"a"}]},"lastChunk":true}}`,
		},
	},
	{
		name: "within 1.0 nothing is added", from: rpc10, to: http10,
		edit: func(r *Retelling) { r.Context = Alias{"sc", "cc"} },
		in:   []string{`{"statusUpdate":{"taskId":"T","contextId":"sc","status":{"state":"TASK_STATE_WORKING","x":1},"y":null},"z":[]}`},
		want: []string{`{"statusUpdate":{"taskId":"T","contextId":"cc","status":{"state":"TASK_STATE_WORKING","x":1},"y":null},"z":[]}`},
	},
	{
		name: "0.3's ProtoJSON to 0.3: final is the agent's", from: http03, to: rpc03,
		in: []string{
			`{"status_update":{"task_id":"T","context_id":"C","status":{"state":"TASK_STATE_WORKING","update":{"message_id":"m","role":2}},"final":true}}`,
			`{"msg":{"message_id":"m","role":"ROLE_AGENT"}}`,
		},
		want: []string{
			`{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"working","message":{"kind":"message","messageId":"m","role":"agent","parts":[]}},"final":true}`,
			`{"kind":"message","messageId":"m","role":"agent","parts":[]}`,
		},
	},
	{
		name: "an agent without kind", from: rpc03, to: http03,
		in:   []string{`{"taskId":"T","contextId":"C","status":{"state":"working"},"final":true}`},
		want: []string{`{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"},"final":true}}`},
	},
}

func TestEvent(t *testing.T) {
	t.Parallel()
	for _, test := range streams {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := Retelling{From: test.from, Call: callOf(test.to, wire.SendStreamingMessage, test.call)}
			if test.edit != nil {
				test.edit(&r)
			}
			got := retellStream(t, &r, test.in)
			for i, want := range test.want {
				if i < len(got) {
					equal(t, "event", want, []byte(got[i]))
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("got %d events, want %d: %s", len(got), len(test.want), strings.Join(got, "\n"))
			}
		})
	}
}

func retellStream(t *testing.T, r *Retelling, events []string) []string {
	t.Helper()
	var got []string
	for _, in := range events {
		err := r.Event(envelopeFor(t, r, in), func(event []byte) error {
			got = append(got, resultOf(t, r, event))
			return nil
		})
		if err != nil {
			t.Fatalf("%v: %s", err, in)
		}
	}
	return got
}

func TestEventErrors(t *testing.T) {
	t.Parallel()
	closed := errors.New("closed")
	for _, to := range sides() {
		r := Retelling{From: rpc03, Call: callOf(to, wire.SendStreamingMessage, wire.Call{TaskID: "T"})}
		task := []byte(`{"result":{"kind":"task","id":"T","status":{"state":"completed"},"artifacts":[{}]}}`)
		if err := r.Event(task, func([]byte) error { return closed }); !errors.Is(err, closed) {
			t.Errorf("%v: got %v, want what emit said", to, err)
		}
		for _, in := range []string{`{"result":null}`, `{"result":{"kind":"x"}}`, `{"result":{"kind":"task","status":[]}}`, `{}`} {
			err := r.Event([]byte(in), func(event []byte) error { t.Errorf("%v: %s becomes %s", to, in, event); return nil })
			var e *wire.Error
			if !errors.As(err, &e) || e.Kind != wire.BadAgentResponse {
				t.Errorf("%v: %s: got %v", to, in, err)
			}
		}
	}
}
