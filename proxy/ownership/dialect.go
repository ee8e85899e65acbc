package ownership

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
