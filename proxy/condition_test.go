package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestTaskStatesAreCounted: what sends and streams show of tasks is, and what reads
// show is not.
func TestTaskStatesAreCounted(t *testing.T) {
	t.Parallel()
	w := build(t)
	got := w.call("alice", wire.SendMessage, message(""))
	wantStatus(t, "send", got, 200)
	task := w.audited("call")[0]["task_id"].(string)
	wantStatus(t, "get", w.call("alice", wire.GetTask, `{"id":"`+task+`"}`), 200)
	want := map[string]string{`agent="rec",state="TASK_STATE_COMPLETED"`: "1"}
	if diff := cmp.Diff(want, w.measured("task_states_total")); diff != "" {
		t.Error(diff)
	}
}

// TestOwnershipIsCounted: by what was not the caller's.
func TestOwnershipIsCounted(t *testing.T) {
	t.Parallel()
	w := build(t)
	wantStatus(t, "alice", w.call("alice", wire.SendMessage, message("")), 200)
	mine := w.audited("call")[0]
	task, context := mine["task_id"].(string), mine["context_id"].(string)
	w.call("bob", wire.GetTask, `{"id":"`+task+`"}`)
	w.call("bob", wire.SendMessage, message(`,"contextId":"`+context+`"`))
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		reply(rw, r, `{"task":{"id":"`+task+`","contextId":"`+context+`","status":{"state":"TASK_STATE_WORKING"}}}`)
	})
	w.call("bob", wire.SendMessage, message(""))
	want := map[string]string{
		`agent="rec",subject="task"`: "1", `agent="rec",subject="context"`: "1", `agent="rec",subject="answer"`: "1",
	}
	if diff := cmp.Diff(want, w.measured("ownership_denials_total")); diff != "" {
		t.Error(diff)
	}
}

// TestRepeatedMessagesAreCounted: those that the agent was spared.
func TestRepeatedMessagesAreCounted(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) { s.agent.Dedupe.Window = secret.Duration(time.Minute) })
	for range 3 {
		wantStatus(t, "send", w.call("alice", wire.SendMessage, message("")), 200)
	}
	w.call("alice", wire.SendMessage, message(`,"metadata":{"another":1}`))
	want := map[string]string{`agent="rec",result="answered"`: "2", `agent="rec",result="conflict"`: "1"}
	if diff := cmp.Diff(want, w.measured("messages_repeated_total")); diff != "" {
		t.Error(diff)
	}
}
