package intake

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// NameAgent finds the agent of a call that came to a shared endpoint, by its tenant or by its
// credential (multi-tenancy: one URL for all agents). To the holder
// of a credential that is bound to an agent, a tenant is that agent's name or one
// of its own tenants: whether another agent goes by it does not matter, and so
// cannot be found out.
func (fe *Frontend) NameAgent(x *exchange.Exchange) error {
	bound := x.Principal.Only()
	id, skill := x.Call.Tenant, ""
	if at := strings.Index(id, "/skills/"); at >= 0 {
		id, skill = id[:at], id[at+len("/skills/"):]
	}
	switch {
	case id == "" && bound == "" && x.Home != nil:
		x.Agent = x.Home
	case id == "" && bound == "":
		return wire.Errorf(wire.InvalidParams,
			"name the agent: by tenant, or by a credential that is bound to one agent")
	case bound != "" && id != bound:
		x.Agent = fe.Agents[bound]
	default:
		x.Agent, x.Skill, x.Path, x.Named = fe.Agents[id], skill, skill, true
	}
	return nil
}
