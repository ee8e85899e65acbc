package fold

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// script is an agent that emits the events it is given.
type script func(*a2asrv.ExecutorContext) []a2a.Event

// Execute implements a2asrv.AgentExecutor.
func (s script) Execute(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		for _, event := range s(ec) {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (s script) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(func(a2a.Event, error) bool) {}
}

// TestFoldIsTheSDK: the events of a stream come to the task that the official SDK's
// server has made of the same events in its store.
func TestFoldIsTheSDK(t *testing.T) {
	t.Parallel()
	said := func(text string) *a2a.Message { return a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(text)) }
	handler := a2asrv.NewHandler(script(func(ec *a2asrv.ExecutorContext) []a2a.Event {
		first := a2a.NewArtifactUpdateEvent(ec, "a", a2a.NewTextPart("one "))
		first.Append, first.Artifact.Name, first.Artifact.Metadata = false, "n", map[string]any{"k": 1}
		more := a2a.NewArtifactUpdateEvent(ec, "a", a2a.NewTextPart("two "), a2a.NewDataPart(map[string]any{"three": 3.5}))
		more.Artifact.Metadata = map[string]any{"k": 2, "l": nil}
		replaced := a2a.NewArtifactEvent(ec, a2a.NewTextPart("draft"))
		final := a2a.NewArtifactUpdateEvent(ec, replaced.Artifact.ID, a2a.NewTextPart("fair copy"))
		final.Append, final.LastChunk = false, true
		working := a2a.NewStatusUpdateEvent(ec, a2a.TaskStateWorking, said("still"))
		working.Metadata = map[string]any{"progress": 1, "x": "y"}
		done := a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, said("done"))
		done.Metadata = map[string]any{"progress": 2}
		return []a2a.Event{
			a2a.NewSubmittedTask(ec, ec.Message), a2a.NewStatusUpdateEvent(ec, a2a.TaskStateWorking, said("at work")),
			first, replaced, more, working, a2a.NewArtifactUpdateEvent(ec, "a", a2a.NewTextPart("four")), final, done,
		}
	}))
	task, seen := &Task{}, 0
	var id a2a.TaskID
	for event, err := range handler.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{Message: said("go")}) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(a2a.StreamResponse{Event: event})
		if err != nil {
			t.Fatal(err)
		}
		if err := task.Apply(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		id = event.TaskInfo().TaskID
		seen++
	}
	stored, err := handler.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil || seen != 9 {
		t.Fatalf("%d events, %v", seen, err)
	}
	got, want := snapshot(t, task), marshal(t, stored)
	if !reflect.DeepEqual(parsed(t, []byte(got)), parsed(t, want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if missing, err := task.Missing(want); err != nil || len(missing) > 0 {
		t.Errorf("missing: %s, %v", missing, err)
	}
}
