package admit

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// HostOf is the host of a link, lower-cased and without a port. What cannot be read is
// nobody's.
func HostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.User != nil { // https://good.example@evil.example
		return "?"
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// PermitsHost reports whether links to a host are permitted.
func (au *Authenticator) PermitsHost(a *agents.Agent, host string) bool {
	switch {
	case len(a.Authorization.Hosts) == 0:
		return true
	case !agents.ASCII(host): // clients disagree about what such a name is in DNS
		return false
	}
	for _, h := range a.Authorization.Hosts {
		h = strings.ToLower(h)
		domain, wild := strings.CutPrefix(h, "*")
		if !wild && host == HostOf("https://"+h) || wild && strings.HasSuffix(host, domain) && len(host) > len(domain) {
			return true
		}
	}
	return slices.ContainsFunc(au.Authn.Issuers(), func(i string) bool { return HostOf(i) == host })
}
