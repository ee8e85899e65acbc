package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// unwrapEnvelope takes a JSON-RPC request for what it is where one has been posted to a path of
// HTTP+JSON: the envelope says what is asked, and all that comes goes by that, as if it had come
// to the base.
func unwrapEnvelope(x *exchange.Exchange) {
	x.Call.Binding, x.Call.Method, x.Call.Streaming = wire.JSONRPC, nil, false
	x.Route, x.Rest = wire.Route{}, "/"
}
