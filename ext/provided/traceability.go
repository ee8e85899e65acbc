package provided

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const (
	tracePath = "github.com/a2aproject/a2a-samples/extensions/traceability/v1"
	traceURI  = "https://" + tracePath
	traceKey  = tracePath + "/traceability"
)

// traceability tells the caller of the one step that a gateway sees: the call of the
// agent.
type traceability struct{}

// trace is the extension's ResponseTrace, in the spelling of its proto and of the
// samples.
type trace struct {
	TraceID string `json:"trace_id"`
	Steps   []step `json:"steps"`
}

type step struct {
	StepID     string            `json:"step_id"`
	TraceID    string            `json:"trace_id"`
	CallType   string            `json:"call_type"`
	Action     action            `json:"step_action"`
	Attributes map[string]string `json:"additional_attributes"`
	Latency    int64             `json:"latency"` // ms
	Start      string            `json:"start_time"`
	End        string            `json:"end_time"`
}

type action struct {
	Agent invocation `json:"agent_invocation"`
}

// invocation has no requests: the caller knows what it said.
type invocation struct {
	URL  string `json:"agent_url"`
	Name string `json:"agent_name"`
}

// Declared is how served cards list it.
func (traceability) Declared() ext.Declared {
	return ext.Declared{
		URI:         traceURI,
		Description: "Adds a trace to the final answer. Provided by the gateway, whose trace has the call of the agent as its one step.",
	}
}

// Request has nothing to do.
func (traceability) Request(*ext.Facts, *wire.Carriers) error { return nil }

// Answer adds the trace to the last document of a call that the agent worked in,
// unless the agent made one of its own.
func (traceability) Answer(f *ext.Facts, doc *wire.Carriers) error {
	if !f.Final || !isSend(f.Method) && f.Method != wire.SubscribeToTask {
		return nil
	}
	for i := range holders(doc, traceKey) {
		if !doc.List[i].History {
			return nil
		}
	}
	at := traced(doc)
	if at < 0 {
		return nil
	}
	value, err := json.Marshal(hop(f), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	doc.Set(at, traceKey, value)
	doc.Add(at, traceURI)
	return nil
}

// traced is the object to put the trace on, -1 for none: the message, which may be a
// status's, else the last artifact. A status update may have neither; the trace then
// stands on the update, as with the samples' agents, or on the task.
func traced(doc *wire.Carriers) int {
	best := -1
	for i := range doc.List {
		c := &doc.List[i]
		switch {
		case c.History:
		case c.Place == wire.InMessage:
			return i
		case c.Place == wire.InArtifact, best < 0 && (c.Place == wire.InTask || c.Place == wire.InUpdate):
			best = i
		}
	}
	return best
}

func hop(f *ext.Facts) trace {
	id, span := f.TraceID, f.SpanID
	if id == "" || span == "" { // nobody traces: the request id is what logs can be searched for
		id, span = f.RequestID, f.RequestID
	}
	start := f.Sent
	if start.IsZero() {
		start = f.Began
	}
	attributes := map[string]string{"gateway": f.Gateway, "request_id": f.RequestID, "method": f.Method}
	if f.Skill != "" {
		attributes["skill"] = f.Skill
	}
	return trace{TraceID: id, Steps: []step{{
		StepID: span, TraceID: id, CallType: "AGENT",
		Action:     action{invocation{URL: f.AgentURL, Name: f.AgentName}},
		Attributes: attributes,
		Latency:    f.Now.Sub(start).Milliseconds(),
		Start:      start.UTC().Format(time.RFC3339Nano),
		End:        f.Now.UTC().Format(time.RFC3339Nano),
	}}}
}
