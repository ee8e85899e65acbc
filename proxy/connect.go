package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// side is how the caller speaks.
func (x *parsedCall) side() wire.Side {
	return wire.Side{Version: x.call.Version, Binding: x.call.Binding}
}

// connect picks the interface of the agent's that serves the call with the least
// change. Which interfaces there are is the card's word, in its order.
func (x *exchange) connect() error {
	x.view = x.agent.Look()
	if x.view == nil {
		return x.agent.NotReady()
	}
	if x.skill != "" && !slices.Contains(x.view.Skills, x.skill) {
		return agents.ErrUnknown // the path names a skill that is not there
	}
	x.endpoint = nil
	if len(x.view.Endpoints) == 0 {
		return agents.ErrNoInterface
	}
	best, reached := agents.Unreachable, false
	for i := range x.view.Endpoints {
		e := &x.view.Endpoints[i]
		if !agents.Reaches(x.side(), e.Side, x.call.Method) {
			continue
		}
		if reached = true; !x.mayUse(e) {
			continue
		}
		if d := agents.Distance(x.side(), e.Side, x.call.Method); d < best {
			x.endpoint, best = e, d
		}
	}
	switch {
	case x.endpoint != nil:
		return nil
	case !reached:
		return wire.Errorf(wire.Unsupported, "the agent has no interface that this method can be called at")
	case x.shared && x.call.Tenant != "":
		return agents.ErrUnknown // there, whatever is no tenant of the agent's may have been meant as a name
	}
	return wire.Errorf(wire.InvalidParams, "tenant does not match the agent's interface")
}

// mayUse reports whether a call may go to an interface by its tenant. A 1.0
// caller says which one it means (A2A 1.0 §4.4.6), unless the tenant it gave has
// named the agent; older versions have no word for it, and get the first. An
// interface of an older version is for whichever tenant the agent has.
func (x *exchange) mayUse(e *agents.Endpoint) bool {
	switch {
	case x.named || x.call.Version != wire.V10:
		return true
	case e.Version == wire.V10:
		return e.Tenant == x.call.Tenant
	}
	return slices.Contains(x.view.Tenants(), x.call.Tenant)
}
