package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// side is how the caller speaks.
func (x *parsedCall) side() wire.Side {
	return wire.Side{Version: x.call.Version, Binding: x.call.Binding}
}

// connect picks the interface of the agent's that serves the call with the least
// change. Which interfaces there are is the card's word, in its order.
func (x *exchange) connect() error {
	x.view = x.agent.look()
	if x.view == nil {
		return x.agent.notReady()
	}
	if x.skill != "" && !slices.Contains(x.view.skills, x.skill) {
		return errUnknownAgent // the path names a skill that is not there
	}
	x.endpoint = nil
	if len(x.view.endpoints) == 0 {
		return errNoInterface
	}
	best, reached := unreachable, false
	for i := range x.view.endpoints {
		e := &x.view.endpoints[i]
		if !reaches(x.side(), e.Side, x.call.Method) {
			continue
		}
		if reached = true; !x.mayUse(e) {
			continue
		}
		if d := distance(x.side(), e.Side, x.call.Method); d < best {
			x.endpoint, best = e, d
		}
	}
	switch {
	case x.endpoint != nil:
		return nil
	case !reached:
		return wire.Errorf(wire.Unsupported, "the agent has no interface that this method can be called at")
	case x.shared && x.call.Tenant != "":
		return errUnknownAgent // there, whatever is no tenant of the agent's may have been meant as a name
	}
	return wire.Errorf(wire.InvalidParams, "tenant does not match the agent's interface")
}

// mayUse reports whether a call may go to an interface by its tenant. A 1.0
// caller says which one it means (A2A 1.0 §4.4.6), unless the tenant it gave has
// named the agent; older versions have no word for it, and get the first. An
// interface of an older version is for whichever tenant the agent has.
func (x *exchange) mayUse(e *endpoint) bool {
	switch {
	case x.named || x.call.Version != wire.V10:
		return true
	case e.Version == wire.V10:
		return e.tenant == x.call.Tenant
	}
	return slices.Contains(x.view.tenants(), x.call.Tenant)
}

const unreachable = 1 << 10

// distance tells how much of a call could change on its way from one side to
// another; 0 is nothing. Between versions more is lost than between bindings of
// one, and a version that has no such method cannot be told the call at all.
func distance(from, to wire.Side, m *wire.Method) int {
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
	if !speaks(to, m) {
		d += 100
	}
	return d
}

// reaches reports whether a call of the method can get from one side to another. The
// protobuf messages of an extension's method are nobody's here, and stay on gRPC; and
// 0.1 has no extensions.
func reaches(from, to wire.Side, m *wire.Method) bool {
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

// speaks reports whether a side has a name for the method.
func speaks(s wire.Side, m *wire.Method) bool {
	switch s.Version {
	case wire.V01:
		return m.V01 != ""
	case wire.V03:
		return m.V03 != ""
	}
	return true
}
