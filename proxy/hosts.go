package proxy

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// ClaimHosts notes in taken, by host, the id of the agent that has it, each as it is written
// and, where it is written without a port, also with public's, under which clients get it.
// What another agent has already is an error. A host of the gateway's own may be claimed:
// what is not the gateway's there is then the agent's.
func (c AgentConfig) ClaimHosts(public *url.URL, taken map[string]string) error {
	for _, host := range c.Hosts {
		for _, h := range []string{host, withPort(public, host)} {
			canonical, ok := server.CanonicalHost(h)
			if !ok {
				return fmt.Errorf("hosts: %q is not a host name", h)
			}
			if by, known := taken[canonical]; known && by != c.ID {
				return fmt.Errorf("hosts: %q is used twice", h)
			}
			taken[canonical] = c.ID
		}
	}
	return nil
}

// withPort adds public's port to a host that has none.
func withPort(public *url.URL, host string) string {
	if port := public.Port(); port != "" && (&url.URL{Host: host}).Port() == "" {
		return strings.TrimSuffix(host, ":") + ":" + port
	}
	return host
}

func (p *Proxy) withPort(host string) string { return withPort(p.PublicURL, host) }

// alone reports whether an agent has its first host for itself, and not together with the
// gateway.
func (p *Proxy) alone(a *Agent) bool {
	if len(a.Hosts) == 0 {
		return false
	}
	host, _ := server.CanonicalHost(p.withPort(a.Hosts[0]))
	_, shared := p.self[host]
	return !shared
}

// at is the agent that a host belongs to, if any, and whether it does so together with the
// gateway, whose own paths go first then. An agent that is the only one has the gateway's own
// hosts in this way: there are clients that drop the path of an agent's URL.
func (p *Proxy) at(host string) (a *Agent, shared bool) {
	a = p.hosts[host]
	if _, own := p.self[host]; own {
		return cmp.Or(a, p.sole), true
	}
	return a, false
}
