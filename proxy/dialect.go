package proxy

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

var subscribeToTask = intake.Method(wire.SubscribeToTask)

// plain is how the gateway itself reads tasks: documents of A2A 1.0, without an envelope.
var plain = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}

// modernRPC is the same in JSON-RPC's envelope.
var modernRPC = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}

// dialect is how the events of an agent's stream are written: the version and the binding of the
// agent's interface, and how it writes the bytes of files.
type dialect struct {
	wire.Side
	bytes translate.Bytes
}

// canonical returns the translation of the agent's events into StreamResponses of A2A 1.0. It
// remembers the events before, so that each stream needs one of its own.
func (m dialect) canonical() *translate.Retelling {
	as := &wire.Call{Version: plain.Version, Binding: plain.Binding, Method: subscribeToTask, Streaming: true}
	return &translate.Retelling{From: m.Side, Call: as, Bytes: m.bytes}
}

// toCanonical gives one event of the agent's to each, as StreamResponses of A2A 1.0; doc itself
// where the agent writes these already.
func (m dialect) toCanonical(r *translate.Retelling, doc []byte, each func([]byte) error) error {
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

// fromCanonical writes StreamResponses of A2A 1.0 as the agent would have, in answer to the call
// with this JSON-RPC id. What the gateway itself knows of a task then passes through the same
// code as what the agent says.
func (m dialect) fromCanonical(id []byte, events [][]byte) ([][]byte, error) {
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

// zoned is an answer or event of such a side as it is read, and whether that is otherwise than
// it came.
func zoned(doc []byte) (read []byte, changed bool) {
	read = translate.Zoned(doc)
	return read, !exchange.Same(doc, read)
}

// isOlder reports whether the interface's agent speaks a version before this one,
// which on the wire is called 0.3 all the same.
func isOlder(x *exchange.Exchange, version string) bool {
	return x.Endpoint.Version == wire.V03 && x.View.Card.Predates(version)
}

// getOlderCard gets the extended card as 0.2 has it: a plain GET beside the URL that
// the agent is called at (A2A 0.2.6 §7.10).
func getOlderCard(x *exchange.Exchange) error {
	beside, err := x.Endpoint.URL.Parse("agent/authenticatedExtendedCard")
	if err != nil {
		return err
	}
	at := *x.Endpoint
	at.Binding, at.URL = wire.HTTPJSON, beside
	x.Upstream = &exchange.UpstreamCall{
		Endpoint: &at,
		Call:     &wire.Call{Version: at.Version, Binding: at.Binding, Method: x.Call.Method},
		Verb:     http.MethodGet,
		Retell:   &translate.Retelling{From: at.Side, Call: &x.Call},
	}
	return nil
}

// ended gives the refusal of a message to a task that has ended the name that 1.0
// has for it (A2A 1.0 §3.1.1). Before, agents called such a message invalid, and
// a client could not tell that it should begin anew.
func (fw *forwarder) ended(ctx context.Context, x *exchange.Exchange, e *wire.Error) *wire.Error {
	invalid := e.Code == wire.InvalidParams.Code || e.Code == wire.InvalidRequest.Code
	if !invalid || x.Call.TaskID == "" || x.Call.Method.Subject != wire.OfMessage ||
		x.Call.Version != wire.V10 || x.Endpoint.Version == wire.V10 {
		return e
	}
	_, _, seen, err := fw.ask(ctx, x, intake.Question(intake.GetTask, x.Call.TaskID, nil))
	if err != nil || !exchange.Terminal(seen.State) {
		return e
	}
	return wire.Errorf(wire.Unsupported, "the task has ended; a message without its id begins another").Because(e)
}
