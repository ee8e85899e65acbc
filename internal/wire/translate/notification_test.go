package translate_test

import (
	"errors"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// What each version posts about the same thing.
var notifications = map[string]map[wire.Version]string{
	"task": {
		wire.V01: `{"id":"T","sessionId":"C","status":{"state":"working"}}`,
		wire.V03: `{"kind":"task","id":"T","contextId":"C","status":{"state":"working"}}`,
		wire.V10: `{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`,
	},
	"status": {
		wire.V03: `{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"canceled"},"final":true}`,
		wire.V10: `{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_CANCELED"}}}`,
	},
	"artifact": {
		wire.V03: `{"kind":"artifact-update","taskId":"T","contextId":"C","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]},"append":true}`,
		wire.V10: `{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true}}`,
	},
	"message": {
		wire.V03: `{"kind":"message","messageId":"m","contextId":"C","role":"agent","parts":[{"kind":"text","text":"x"}]}`,
		wire.V10: `{"message":{"messageId":"m","contextId":"C","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`,
	},
}

func notify(from, to wire.Version, binding wire.Binding, doc string) (string, error) {
	r := translate.Retelling{
		From: wire.Side{Version: from, Binding: binding},
		Call: &wire.Call{Version: to, Binding: binding},
	}
	out, err := r.Notification(nil, []byte(doc))
	return string(out), err
}

// TestNotifications: what a webhook gets is in its receiver's version, the same for
// every binding that the calls may have had.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for name, forms := range notifications {
		for from, doc := range forms {
			for to, want := range forms {
				for _, b := range []wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC} {
					if got, err := notify(from, to, b, doc); err != nil || got != want {
						t.Errorf("%s from %s to %s: %s %v\nwant %s", name, from, to, got, err, want)
					}
				}
			}
		}
	}
}

// TestNotificationsTo01: 0.1 has tasks only.
func TestNotificationsTo01(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"status":  `{"id":"T","sessionId":"C","status":{"state":"canceled"}}`,
		"message": `{"sessionId":"C","status":{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"x"}]}}}`,
	} {
		for _, from := range []wire.Version{wire.V03, wire.V10} {
			if got, err := notify(from, wire.V01, wire.JSONRPC, notifications[name][from]); err != nil || got != want {
				t.Errorf("%s from %s: %s %v\nwant %s", name, from, got, err, want)
			}
		}
	}
	_, err := notify(wire.V10, wire.V01, wire.JSONRPC, notifications["artifact"][wire.V10])
	var e *wire.Error
	if !errors.As(err, &e) || e.Kind != wire.Unsupported {
		t.Errorf("an artifact: %v", err)
	}
}

// TestBrokenNotifications: what is none is not passed on as one.
func TestBrokenNotifications(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{}`, `[]`, `null`, `"x"`, `{"task":7}`, `{"statusUpdate":{"taskId":"T","status":7}}`} {
		for _, to := range []wire.Version{wire.V03, wire.V10, wire.V01} {
			var e *wire.Error
			if got, err := notify(wire.V10, to, wire.JSONRPC, doc); to != wire.V10 && (!errors.As(err, &e) || e.Kind != wire.BadAgentResponse) {
				t.Errorf("%s to %s: %s %v", doc, to, got, err)
			}
		}
	}
}

// TestNotificationAlias: a receiver knows the task by its own name for it.
func TestNotificationAlias(t *testing.T) {
	t.Parallel()
	r := translate.Retelling{
		From:    wire.Side{Version: wire.V10, Binding: wire.JSONRPC},
		Call:    &wire.Call{Version: wire.V01, Binding: wire.JSONRPC},
		Task:    translate.Alias{Agent: "T", Caller: "mine"},
		Context: translate.Alias{Agent: "C", Caller: "session"},
	}
	got, err := r.Notification([]byte("x"), []byte(notifications["task"][wire.V10]))
	if want := `x{"id":"mine","sessionId":"session","status":{"state":"working"}}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
}
