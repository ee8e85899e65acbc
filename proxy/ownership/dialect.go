package ownership

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// SubscribeToTask is the row of that method in the table of operations.
var SubscribeToTask = intake.Method(wire.SubscribeToTask)

// plain is how the gateway itself reads tasks: documents of A2A 1.0, without an envelope.
var plain = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}

// modernRPC is the same in JSON-RPC's envelope.
var modernRPC = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}

// Dialect is how the events of an agent's stream are written: the version and the binding of the
// agent's interface, and how it writes the bytes of files.
type Dialect struct {
	wire.Side
	Bytes translate.Bytes
}

// Canonical returns the translation of the agent's events into StreamResponses of A2A 1.0. It
// remembers the events before, so that each stream needs one of its own.
func (m Dialect) Canonical() *translate.Retelling {
	as := &wire.Call{Version: plain.Version, Binding: plain.Binding, Method: SubscribeToTask, Streaming: true}
	return &translate.Retelling{From: m.Side, Call: as, Bytes: m.Bytes}
}

// ToCanonical gives one event of the agent's to each, as StreamResponses of A2A 1.0; doc itself
// where the agent writes these already.
//
// What each is given is a copy where it was translated, and part of doc where it was not.
func (m Dialect) ToCanonical(r *translate.Retelling, doc []byte, each func([]byte) error) error {
	switch m.Side {
	case plain:
		return each(doc)
	case modernRPC:
		if event := eventIn(memberOf(doc, "result")); event != nil {
			return each(event)
		}
	}
	return r.Event(doc, func(event []byte) error { return each(bytes.Clone(event)) })
}

// eventIn is the StreamResponse that an answer's result is, or the task in it as one; nil
// where it is neither.
//
// Agents of 1.0 wrap an event in a member that names its kind, in either spelling of ProtoJSON;
// the answer to GetTask is the task itself.
func eventIn(result []byte) []byte {
	var o map[string]jsontext.Value
	if json.Unmarshal(result, &o) != nil {
		return nil
	}
	for _, name := range []string{"task", "message", "statusUpdate", "artifactUpdate", "status_update", "artifact_update"} {
		if o[name] != nil {
			return result
		}
	}
	if o["id"] == nil || o["status"] == nil {
		return nil
	}
	return slices.Concat([]byte(`{"task":`), result, []byte("}"))
}

// FromCanonical writes StreamResponses of A2A 1.0 as the agent would have, in answer to the call
// with this JSON-RPC id. What the gateway itself knows of a task then passes through the same
// code as what the agent says.
func (m Dialect) FromCanonical(id []byte, events [][]byte) ([][]byte, error) {
	as := &wire.Call{Version: m.Version, Binding: m.Binding, Method: SubscribeToTask, Streaming: true, ID: id}
	r := &translate.Retelling{From: plain, Call: as, CallerBytes: m.Bytes}
	if id == nil {
		id = []byte("null")
	}
	var out [][]byte
	for _, e := range events {
		switch m.Side {
		case plain:
			out = append(out, e)
			continue
		case modernRPC:
			out = append(out, slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`), e, []byte("}")))
			continue
		}
		err := r.Event(e, func(event []byte) error {
			out = append(out, bytes.Clone(event))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Missing is the same for who knows a task as it was; nil for who knows nothing of it.
//
// doc is the task as the agent shows it now. The result is in the agent's words, in answer to the
// call with this JSON-RPC id.
func (m Dialect) Missing(id, doc []byte, task *fold.Task) ([][]byte, error) {
	var events [][]byte
	err := m.ToCanonical(m.Canonical(), doc, func(event []byte) (err error) {
		if task == nil {
			events = append(events, event)
			return nil
		}
		events, err = task.Missing(memberOf(event, "task"))
		return err
	})
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "the agent's task cannot be read").Because(err)
	}
	return m.FromCanonical(id, events)
}

// ResultOf is an answer or event without JSON-RPC's envelope; other bindings have none.
func ResultOf(b wire.Binding, doc []byte) []byte {
	from, to := ResultSpan(b, doc)
	return doc[from:to]
}

// ResultSpan is where it stands. A document without one, such as an error, has an
// empty span.
func ResultSpan(b wire.Binding, doc []byte) (from, to int) {
	if b != wire.JSONRPC {
		return 0, len(doc)
	}
	return jsonscan.MemberSpan(doc, "result")
}

// StatusOf finds the status of a task or update, and when it came about.
//
// Both are zero where v has no status; at is zero where the status has no timestamp that can be
// read.
func StatusOf(v []byte) (status []byte, at time.Time) {
	var o struct {
		Status jsontext.Value `json:"status"`
	}
	var when struct {
		Timestamp string `json:"timestamp"`
	}
	if json.Unmarshal(v, &o) != nil || json.Unmarshal(o.Status, &when) != nil {
		return nil, time.Time{}
	}
	at, _ = time.Parse(time.RFC3339Nano, when.Timestamp) // absent and unreadable are the same: unknown
	return o.Status, at
}

// memberOf is the value of one member of an object; nil for none.
func memberOf(doc []byte, name string) []byte {
	var o map[string]jsontext.Value
	if json.Unmarshal(jsonscan.Mend(doc), &o) != nil {
		return nil
	}
	return o[name]
}
