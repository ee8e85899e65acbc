package exchange

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
)

// Connect picks the interface of the agent's that serves the call with the least
// change. Which interfaces there are is the card's word, in its order.
func (x *Exchange) Connect() error {
	x.View = x.Agent.Look()
	if x.View == nil {
		return x.Agent.NotReady()
	}
	if x.Skill != "" && !slices.Contains(x.View.Skills, x.Skill) {
		return agents.ErrUnknown // the path names a skill that is not there
	}
	x.Endpoint = nil
	if len(x.View.Endpoints) == 0 {
		return agents.ErrNoInterface
	}
	best, reached := interfaces.Unreachable, false
	for i := range x.View.Endpoints {
		e := &x.View.Endpoints[i]
		if !interfaces.Reaches(x.Side(), e.Side, x.Call.Method) {
			continue
		}
		if reached = true; !x.MayUse(e) {
			continue
		}
		if d := interfaces.Distance(x.Side(), e.Side, x.Call.Method); d < best {
			x.Endpoint, best = e, d
		}
	}
	switch {
	case x.Endpoint != nil:
		return nil
	case !reached:
		return wire.Errorf(wire.Unsupported, "the agent has no interface that this method can be called at")
	case x.Shared && x.Call.Tenant != "":
		return agents.ErrUnknown // there, whatever is no tenant of the agent's may have been meant as a name
	}
	return wire.Errorf(wire.InvalidParams, "tenant does not match the agent's interface")
}

// MayUse reports whether a call may go to an interface by its tenant. A 1.0
// caller says which one it means (A2A 1.0 §4.4.6), unless the tenant it gave has
// named the agent; older versions have no word for it, and get the first. An
// interface of an older version is for whichever tenant the agent has.
func (x *Exchange) MayUse(e *agents.Endpoint) bool {
	switch {
	case x.Named || x.Call.Version != wire.V10:
		return true
	case e.Version == wire.V10:
		return e.Tenant == x.Call.Tenant
	}
	return slices.Contains(x.View.Tenants(), x.Call.Tenant)
}
