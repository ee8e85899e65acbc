// Package interfaces compares the interfaces of A2A, each a version and a binding: which of an
// agent's a call can reach (Reaches), how much of it could change on the way there (Distance),
// whether the version has a name for the method (Speaks), and at which URL it is called where
// each method has its own (MethodURL). It calls nobody and knows no agent.
//
//	caller 1.0 JSON-RPC    agent offers 0.3 JSON-RPC: 11, 1.0 HTTP+JSON: 2, 1.0 JSON-RPC: 0
package interfaces

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Unreachable is more than any Distance: the distance of an agent of which no interface was found
// yet.
const Unreachable = 1 << 10

// Distance tells how much of a call could change on its way from one side to
// another; 0 is nothing. Between versions more is lost than between bindings of
// one, and a version that has no such method cannot be told the call at all.
func Distance(from, to wire.Side, m *wire.Method) int {
	if from == to {
		return 0
	}
	d := int(to.Binding) // of those that are as good, the cheapest to speak
	if from.Version != to.Version {
		d += 10 * strangeness(from.Version, to.Version)
	}
	if m.Extension != "" && from.Binding != to.Binding {
		d += 50 // its params may not fit; between versions they are the same
	}
	if !Speaks(to, m) {
		d += 100
	}
	return d
}

// Reaches reports whether a call of the method can get from one side to another. The
// protobuf messages of an extension's method are nobody's here, and stay on gRPC; and
// 0.1 has no extensions.
func Reaches(from, to wire.Side, m *wire.Method) bool {
	switch {
	case m.Extension == "":
		return true
	case to.Version == wire.V01:
		return false
	case from.Binding == wire.GRPC || to.Binding == wire.GRPC:
		return from == to
	}
	return to.Binding == wire.JSONRPC || m.Path != ""
}

// strangeness orders the other versions by what is lost on the way to them: 0.1
// has the fewest words for everybody.
func strangeness(from, to wire.Version) int {
	switch {
	case to == wire.V01:
		return 3
	case from == wire.V01 && to == wire.V10:
		return 2
	}
	return 1
}

// Speaks reports whether a side has a name for the method.
func Speaks(s wire.Side, m *wire.Method) bool {
	switch s.Version {
	case wire.V01:
		return m.V01 != ""
	case wire.V03:
		return m.V03 != ""
	}
	return true
}
