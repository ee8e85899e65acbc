package forward

import (
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ErrMethodUnknown is of a call whose method the agent does not know in the version of its card.
var ErrMethodUnknown = errors.New("the agent does not know the method in the version of its card")

// mayFallBack reports whether the call, which the agent has refused, is to be sent in the
// caller's version. What the operator has written down is not doubted.
//
// It must not be tried where the card names the caller's version at the same address, or where it
// was tried before in vain.
func mayFallBack(x *exchange.Exchange, seen wire.Answer) bool {
	e := x.Endpoint
	switch {
	case !isUnknown(seen) || x.FellBack || x.Question != nil || len(x.Agent.Interfaces) > 0 || x.Call.Method.Extension != "":
		return false
	case e.Binding != wire.JSONRPC || e.Version == x.Call.Version:
		return false
	}
	other := slices.ContainsFunc(x.View.Endpoints, func(o agents.Endpoint) bool { return o.Address == e.Address && o.Version == x.Call.Version })
	return !other && !x.View.RefusedVersions.Has(e.Address, x.Call.Version)
}

// LearnVersion notes what an answer to a call in the caller's version says: that the agent is
// to be called in that from now on, or that it does not speak it either.
func (fw *Forwarder) LearnVersion(x *exchange.Exchange, seen wire.Answer) {
	switch {
	case !x.FellBack:
		return
	case isUnknown(seen):
		x.View.RefusedVersions.Add(x.Endpoint.Address, x.Endpoint.Version)
		return
	case exchange.IsError(seen):
		return
	}
	if was, ok := x.Agent.Correct(x.View, x.Endpoint); ok {
		fw.Telemetry.Log.Warn("agent speaks another version of A2A than its card says, and is called in that: name it in agents[].interfaces",
			"agent", x.Agent.ID, "endpoint", x.Endpoint.Address, "card_version", string(was), "version", string(x.Endpoint.Version))
	}
}

// isUnknown reports whether the agent knows no such method, or no such version of one.
func isUnknown(seen wire.Answer) bool {
	return seen.Error == wire.MethodNotFound.Code || seen.Error == wire.VersionUnsupported.Code
}
