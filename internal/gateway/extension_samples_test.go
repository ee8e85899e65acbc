package gateway_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// What the project's samples call their extensions, and where they put things.
const (
	stampURI = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"
	stampKey = "github.com/a2aproject/a2a-samples/extensions/timestamp/v1/timestamp"
	traceURI = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
	traceKey = "github.com/a2aproject/a2a-samples/extensions/traceability/v1/traceability"
)

const callers, agents = "2020-01-02T03:04:05Z", "2021-01-02T03:04:05Z"

// marking is an agent that puts a value under a key on all that it says, whether or
// not anybody asked for it, and tells what it was sent.
func marking(uri, key string, value any) gatewaytest.Act {
	return func(ec *a2asrv.ExecutorContext, requested []string) []a2a.Event {
		mark := func() map[string]any { return map[string]any{key: value, "other": "kept"} }
		heard := fmt.Sprint(ec.Message.Metadata[key], ec.Message.Extensions, requested)
		if word(ec.Message) == "message" {
			return []a2a.Event{reply(ec, heard, uri, mark())}
		}
		made := a2a.NewArtifactEvent(ec, a2a.NewTextPart(heard))
		made.Artifact.Metadata, made.Artifact.Extensions = mark(), []string{uri}
		return []a2a.Event{
			a2a.NewSubmittedTask(ec, ec.Message), made,
			a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, reply(ec, "done", uri, mark())),
		}
	}
}

// plainly is an agent that knows of no extension.
func plainly(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
	if word(ec.Message) == "message" {
		return []a2a.Event{reply(ec, "answer", "", nil)}
	}
	return []a2a.Event{
		a2a.NewSubmittedTask(ec, ec.Message), a2a.NewArtifactEvent(ec, a2a.NewTextPart("result")),
		a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, reply(ec, "done", "", nil)),
	}
}

// What agent and client have agreed on goes through between any two of them, and
// what they have not is taken out on both ways.
func TestExtensionOfTheAgents(t *testing.T) {
	t.Parallel()
	trace := map[string]any{"trace_id": "t", "steps": []any{map[string]any{"step_id": "s", "latency": 12.0}}}
	for _, tt := range []struct {
		name, uri, key  string
		callers, agents any
	}{
		{"timestamp", stampURI, stampKey, callers, agents},
		{"traceability", traceURI, traceKey, "parent", trace},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFair(t, stall{
				declared: []a2a.AgentExtension{{URI: tt.uri, Description: "Marks."}}, section: "allow: []",
				act: marking(tt.uri, tt.key, tt.agents),
			})
			say := func(text string) *a2a.Message { return utter(text, tt.uri, map[string]any{tt.key: tt.callers}) }
			marked := map[string]any{tt.key: tt.agents, "other": "kept"}
			f.meet(t, []string{tt.uri}, nil, func(m *meeting) {
				m.same("card", m.listed(tt.uri).Description, "Marks.")
				answer := m.messageOf(m.send(say("message")))
				m.activated(tt.uri)
				m.same("heard", word(answer), fmt.Sprint(tt.callers, []string{tt.uri}, []string{tt.uri}))
				m.same("metadata", answer.Metadata, marked)
				m.same("extensions", answer.Extensions, []string{tt.uri})
				m.whole(say("task"), func(what string, metadata map[string]any, extensions []string) {
					m.same("metadata of the "+what, metadata, marked)
					m.same("extensions of the "+what, extensions, []string{tt.uri})
				})
			})
			f.meet(t, nil, nil, func(m *meeting) {
				rest := map[string]any{"other": "kept"}
				answer := m.messageOf(m.send(say("message")))
				m.activated()
				m.same("heard", word(answer), "<nil> [] []")
				m.same("metadata", answer.Metadata, rest)
				m.same("extensions", len(answer.Extensions), 0)
				m.whole(say("task"), func(what string, metadata map[string]any, extensions []string) {
					m.same("metadata of the "+what, metadata, rest)
					m.same("extensions of the "+what, len(extensions), 0)
				})
			})
		})
	}
}

// whole sends a message that makes a task, both ways, and shows what is on the
// message of its status and on its artifact.
func (m *meeting) whole(message *a2a.Message, look func(what string, metadata map[string]any, extensions []string)) {
	m.Helper()
	task, ok := m.send(message).(*a2a.Task)
	if !ok || len(task.Artifacts) != 1 || task.Status.Message == nil {
		m.Fatalf("no task with an artifact and a message: %+v", task)
	}
	look("status", task.Status.Message.Metadata, task.Status.Message.Extensions)
	look("artifact", task.Artifacts[0].Metadata, task.Artifacts[0].Extensions)
	var seen int
	message.ID = a2a.NewMessageID()
	for _, e := range m.events(message) {
		switch e := e.(type) {
		case *a2a.TaskArtifactUpdateEvent:
			look("streamed artifact", e.Artifact.Metadata, e.Artifact.Extensions)
			seen++
		case *a2a.TaskStatusUpdateEvent:
			if e.Status.Message != nil {
				look("streamed status", e.Status.Message.Metadata, e.Status.Message.Extensions)
				seen++
			}
		}
	}
	if seen != 2 {
		m.Errorf("the stream had %d objects to look at, want 2", seen)
	}
}

// An agent that lacks an extension which the gateway provides is no different to a
// client that has it, and neither for one that has not.
func TestExtensionOfTheGateways(t *testing.T) {
	t.Parallel()
	f := newFair(t, stall{section: fmt.Sprintf("provide: [%q, %q]", stampURI, traceURI), act: plainly})
	f.meet(t, []string{stampURI, traceURI}, nil, func(m *meeting) {
		if m.listed(stampURI).Required || m.listed(traceURI).Description == "" {
			m.Errorf("listed as %+v", m.card.Capabilities.Extensions)
		}
		answer := m.messageOf(m.send(utter("message", "", nil)))
		m.activated(stampURI, traceURI)
		m.stamped("message", answer.Metadata, answer.Extensions)
		m.traced(answer.Metadata)
		m.whole(utter("task", "", nil), func(what string, metadata map[string]any, extensions []string) {
			m.stamped(what, metadata, extensions)
		})
		task := m.send(utter("task", "", nil)).(*a2a.Task)
		m.traced(task.Status.Message.Metadata)
	})
	f.meet(t, nil, nil, func(m *meeting) {
		answer := m.messageOf(m.send(utter("message", "", nil)))
		m.activated()
		m.same("metadata", len(answer.Metadata), 0)
		m.same("extensions", len(answer.Extensions), 0)
	})
}

func (m *meeting) stamped(what string, metadata map[string]any, extensions []string) {
	m.Helper()
	text, _ := metadata[stampKey].(string)
	if at, err := time.Parse(time.RFC3339, text); err != nil || at.Location() != time.UTC {
		m.Errorf("the %s has the time %q: %v", what, text, err)
	}
	if len(extensions) == 0 || extensions[0] != stampURI {
		m.Errorf("the %s lists %v", what, extensions)
	}
}

func (m *meeting) traced(metadata map[string]any) {
	m.Helper()
	trace, _ := metadata[traceKey].(map[string]any)
	steps, _ := trace["steps"].([]any)
	if trace["trace_id"] == "" || len(steps) != 1 {
		m.Errorf("the trace is %v", metadata)
		return
	}
	step, _ := steps[0].(map[string]any)
	action, _ := step["step_action"].(map[string]any)
	invoked, _ := action["agent_invocation"].(map[string]any)
	m.same("agent of the step", invoked["agent_name"], any("Rich"))
	m.same("kind of the step", step["call_type"], any("AGENT"))
}
