package proxy

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// resultOf is an answer or event without JSON-RPC's envelope; other bindings have none.
func resultOf(b wire.Binding, doc []byte) []byte {
	from, to := resultSpan(b, doc)
	return doc[from:to]
}

// resultSpan is where it stands. A document without one, such as an error, has an
// empty span.
func resultSpan(b wire.Binding, doc []byte) (from, to int) {
	if b != wire.JSONRPC {
		return 0, len(doc)
	}
	return memberSpan(doc, "result")
}

// memberSpan is where the value of an object's member stands, {0, 0} for nowhere. The
// document has been read before: what is wrong with it was found then.
func memberSpan(doc []byte, name string) (from, to int) {
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
