package proxy

import (
	"cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

func (fe *frontend) withPort(host string) string { return agents.WithPort(fe.PublicURL, host) }

// alone reports whether an agent has its first host for itself, and not together with the
// gateway.
func (fe *frontend) alone(a *agents.Agent) bool {
	if len(a.Hosts) == 0 {
		return false
	}
	host, _ := server.CanonicalHost(fe.withPort(a.Hosts[0]))
	_, shared := fe.self[host]
	return !shared
}

// at is the agent that a host belongs to, if any, and whether it does so together with the
// gateway, whose own paths go first then. An agent that is the only one has the gateway's own
// hosts in this way: there are clients that drop the path of an agent's URL.
func (de *decoder) at(host string) (a *agents.Agent, shared bool) {
	a = de.hosts[host]
	if _, own := de.self[host]; own {
		return cmp.Or(a, de.sole), true
	}
	return a, false
}
