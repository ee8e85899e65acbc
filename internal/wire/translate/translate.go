// Package translate retells calls and answers in another version or binding.
package translate

import (
	"errors"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// To is how an interface wants to be spoken to.
type To struct {
	wire.Side
	Tenant      string   // of the interface, as its card says
	ID          []byte   // JSON-RPC id of the outgoing call, verbatim
	OutputModes []string // stand in for absent acceptedOutputModes toward 0.3 JSON-RPC; nil for none
	Alternative bool     // the second of two body forms, where implementations disagree
}

// Outbound is a request as an agent's interface wants it.
type Outbound struct {
	Call    wire.Call // the call as the agent sees it: side, method, ids; Body is its document
	Verb    string    // HTTP verb
	Path    string    // escaped, below the interface's URL; "" on JSON-RPC; the RPC's path on gRPC
	Query   string    // raw query, "" for none
	Body    []byte    // what to send: a document, or a framed protobuf message on gRPC; nil for none
	History *int      // messages of history the caller asked for, nil for as many as there are
	Wait    bool      // the caller waits for the task's end, and the interface cannot be told so
}

// Request retells a call.
func Request(c *wire.Call, query url.Values, to To) (Outbound, *wire.Error) {
	return Outbound{}, wire.Errorf(wire.Internal, "")
}

// Alias is an id that goes by another name on the caller's side.
type Alias struct{ Agent, Caller string }

// Retelling retells the answers to one call.
type Retelling struct {
	From    wire.Side  // how the agent speaks
	Call    *wire.Call // the caller's call
	History *int       // cut history to the last so many messages; nil leaves it
	Task    Alias
	Context Alias
}

// Answer retells a whole answer.
func (r *Retelling) Answer(dst, doc []byte) ([]byte, error) { return nil, errors.New("not yet") }

// Event retells one event of a stream as none, one or several.
func (r *Retelling) Event(doc []byte, emit func(event []byte) error) error {
	return errors.New("not yet")
}
