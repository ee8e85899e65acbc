package exchange

import (
	"bytes"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// MatchID makes sure that a JSON-RPC answer is the answer to this call. An agent
// that read a large number into a float gets it wrong without meaning to: the
// caller's own bytes are put back then.
//
//	call   {"jsonrpc":"2.0","id":9007199254740993,…}
//	agent  {"jsonrpc":"2.0","id":9007199254740992,…}    a float64 later
//	caller {"jsonrpc":"2.0","id":9007199254740993,…}
//
// An answer to another call is refused, since it may be another caller's (JSON-RPC 2.0 §5: id must be
// the same as in the request).
func (x *Exchange) MatchID(seen wire.Answer, body []byte) ([]byte, error) {
	if x.Upstream.Binding != wire.JSONRPC || bytes.Equal(seen.ID, x.Upstream.Call.ID) {
		return body, nil
	}
	failed := seen.Error != 0 && (len(seen.ID) == 0 || string(seen.ID) == "null")
	if !failed && !x.Fed && !seen.Answers(x.Upstream.Call.ID) {
		return nil, wire.Errorf(wire.BadAgentResponse, "the answer's id is not the call's")
	}
	if len(seen.ID) == 0 && failed {
		return body, nil // an error without an id member says nothing false
	}
	if len(seen.ID) == 0 { // that of the call it was for is null; a client may want to see its own
		at := bytes.IndexByte(body, '{') + 1
		return jsonscan.Replaced(body, at, at, slices.Concat([]byte(`"id":`), x.Upstream.Call.ID, []byte(","))), nil
	}
	return jsonscan.Replaced(body, seen.IDAt, seen.IDAt+len(seen.ID), x.Upstream.Call.ID), nil
}
