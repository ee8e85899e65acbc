package proxy

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

var subscribeToTask = method(wire.SubscribeToTask)

// plain is how the gateway itself reads tasks: documents of A2A 1.0, without an envelope.
var plain = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}

// modernRPC is the same in JSON-RPC's envelope.
var modernRPC = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}

// manner is how the events of an agent's stream are said.
type manner struct {
	wire.Side
	bytes translate.Bytes
}

// canon gives what an event of the agent's is as StreamResponses of A2A 1.0. It remembers
// the events before, and is for one stream.
func (m manner) canon() *translate.Retelling {
	as := &wire.Call{Version: plain.Version, Binding: plain.Binding, Method: subscribeToTask, Streaming: true}
	return &translate.Retelling{From: m.Side, Call: as, Bytes: m.bytes}
}

// plainly is the same for one event; doc itself where the agent speaks so already.
func (m manner) plainly(r *translate.Retelling, doc []byte, each func([]byte) error) error {
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

// restate says StreamResponses of A2A 1.0 as the agent would have, in answer to a call of
// the JSON-RPC id: what the gateway knows of a task goes the way of what the agent says.
func (m manner) restate(id []byte, events [][]byte) ([][]byte, error) {
	as := &wire.Call{Version: m.Version, Binding: m.Binding, Method: subscribeToTask, Streaming: true, ID: id}
	r := &translate.Retelling{From: plain, Call: as, CallerBytes: m.bytes}
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
