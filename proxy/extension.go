package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// unknownMethod refuses a call in the words for a name, path or RPC that is not there.
func (x *exchange) unknownMethod() *wire.Error {
	switch x.call.Binding {
	case wire.JSONRPC:
		return wire.Errorf(wire.MethodNotFound, "Method not found: %q", x.call.Method.Name)
	case wire.HTTPJSON:
		return wire.Errorf(wire.MethodNotFound, "no such path")
	}
	return wire.Errorf(wire.MethodNotFound, "no such method")
}
