package exchange

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// MatchID makes sure that a JSON-RPC answer is the answer to this call. An agent
// that read a large number into a float gets it wrong without meaning to: the
// caller's own bytes are put back then.
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
		return Splice(body, at, at, slices.Concat([]byte(`"id":`), x.Upstream.Call.ID, []byte(","))), nil
	}
	return Splice(body, seen.IDAt, seen.IDAt+len(seen.ID), x.Upstream.Call.ID), nil
}

// Splice returns body with body[from:to] replaced. body itself is not changed.
func Splice(body []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(body)-(to-from)+len(with))
	out = append(out, body[:from]...)
	out = append(out, with...)
	return append(out, body[to:]...)
}

// MemberSpan is where the value of an object's member stands, {0, 0} for nowhere. The
// document has been read before: what is wrong with it was found then.
func MemberSpan(doc []byte, name string) (from, to int) {
	d := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowInvalidUTF8(true)) // half a surrogate pair may be there
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return 0, 0
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return 0, 0
		}
		found := t.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return 0, 0
		}
		if found {
			to = int(d.InputOffset())
			return to - len(v), to
		}
	}
	return 0, 0
}
