package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
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
	return exchange.MemberSpan(doc, "result")
}
