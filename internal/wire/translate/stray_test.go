package translate

import (
	"bytes"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestStrayIDs: where the agent has another id than the caller, no part of the call says the
// caller's, under whatever name some version has for it.
func TestStrayIDs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method, doc string
		sides       []wire.Side
	}{
		{wire.GetTask, `{"id":"theirs","taskId":"theirs","name":"tasks/theirs","contextId":"their-context","session_id":"their-context"}`, sides()},
		{wire.CancelTask, `{"id":"theirs","task_id":"theirs","name":"tasks/theirs"}`, sides()},
		{wire.SubscribeToTask, `{"id":"theirs","taskId":"theirs","sessionId":"their-context"}`, sides()},
		{getConfig, `{"taskId":"theirs","id":"their-config","configId":"their-config","push_notification_config_id":"their-config"}`, []wire.Side{rpc10, http10}},
		{getConfig, `{"id":"theirs","taskId":"theirs","pushNotificationConfigId":"their-config"}`, []wire.Side{rpc03}},
		{listConfigs, `{"taskId":"theirs","parent":"tasks/theirs","contextId":"their-context"}`, []wire.Side{rpc10, http10}},
		{wire.SendMessage, `{"message":{"messageId":"m","taskId":"theirs","contextId":"their-context","sessionId":"their-context","role":"ROLE_USER",` +
			`"parts":[{"text":"x"}]},"id":"theirs","name":"tasks/theirs","contextId":"their-context","configuration":{"taskId":"theirs","context_id":"their-context"}}`,
			[]wire.Side{rpc10, http10}},
		{wire.SendMessage, `{"message":{"kind":"message","messageId":"m","taskId":"theirs","session_id":"their-context","contextId":"their-context","role":"user",` +
			`"parts":[{"kind":"text","text":"x"}]},"taskId":"theirs","sessionId":"their-context"}`, []wire.Side{rpc03}},
	} {
		for _, from := range tt.sides {
			if from.Binding != wire.JSONRPC || nameIn(methodNamed(tt.method), from.Version) == "" {
				continue
			}
			c, q := decode(t, exchange{side: from, method: tt.method, doc: tt.doc})
			c.TaskID, c.ContextID = "ours", "our-context"
			if c.ConfigID != "" {
				c.ConfigID = "our-config"
			}
			for _, to := range sides() {
				out, e := Request(c, q, To{Side: to, ID: []byte("7")})
				if e != nil {
					continue // the target has no such operation
				}
				if said := []byte(out.Path + "?" + out.Query + string(out.Body)); bytes.Contains(said, []byte("their")) {
					t.Errorf("%v to %v: %s says an id of the caller's: %s", from, to, tt.method, said)
				}
			}
		}
	}
}
