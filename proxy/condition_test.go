package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestTaskStatesAreCounted: what sends and streams show of tasks is, and what reads
// show is not.
func TestTaskStatesAreCounted(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	got := w.Call("alice", wire.SendMessage, proxytest.Message(""))
	proxytest.WantStatus(t, "send", got, 200)
	task := w.Audited("call")[0]["task_id"].(string)
	proxytest.WantStatus(t, "get", w.Call("alice", wire.GetTask, `{"id":"`+task+`"}`), 200)
	want := map[string]string{`agent="rec",state="TASK_STATE_COMPLETED"`: "1"}
	if diff := cmp.Diff(want, w.Measured("task_states_total")); diff != "" {
		t.Error(diff)
	}
}

// TestOwnershipIsCounted: by what was not the caller's.
func TestOwnershipIsCounted(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	proxytest.WantStatus(t, "alice", w.Call("alice", wire.SendMessage, proxytest.Message("")), 200)
	mine := w.Audited("call")[0]
	task, context := mine["task_id"].(string), mine["context_id"].(string)
	w.Call("bob", wire.GetTask, `{"id":"`+task+`"}`)
	w.Call("bob", wire.SendMessage, proxytest.Message(`,"contextId":"`+context+`"`))
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, `{"task":{"id":"`+task+`","contextId":"`+context+`","status":{"state":"TASK_STATE_WORKING"}}}`)
	})
	w.Call("bob", wire.SendMessage, proxytest.Message(""))
	want := map[string]string{
		`agent="rec",subject="task"`: "1", `agent="rec",subject="context"`: "1", `agent="rec",subject="answer"`: "1",
	}
	if diff := cmp.Diff(want, w.Measured("ownership_denials_total")); diff != "" {
		t.Error(diff)
	}
}

// TestRepeatedMessagesAreCounted: those that the agent was spared.
func TestRepeatedMessagesAreCounted(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Dedupe.Window = quantity.Duration(time.Minute) })
	for range 3 {
		proxytest.WantStatus(t, "send", w.Call("alice", wire.SendMessage, proxytest.Message("")), 200)
	}
	w.Call("alice", wire.SendMessage, proxytest.Message(`,"metadata":{"another":1}`))
	want := map[string]string{`agent="rec",result="answered"`: "2", `agent="rec",result="conflict"`: "1"}
	if diff := cmp.Diff(want, w.Measured("messages_repeated_total")); diff != "" {
		t.Error(diff)
	}
}
