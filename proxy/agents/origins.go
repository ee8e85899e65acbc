package agents

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// Origins are those that an agent is at as far as the configuration says: of its card, and of
// its interfaces where they are configured.
func (c *Config) Origins() []string {
	var list []string
	add := func(u *url.URL, err error) {
		if err != nil {
			return // which Validate tells of
		}
		if o := credentials.Origin(u); o != "" && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	add(c.Card.URL.Parse())
	for i := range c.Interfaces {
		add(url.Parse(webURL(c.Interfaces[i].URL.Reveal())))
	}
	return list
}

// webURL is the address of an interface with the scheme that it is called by.
func webURL(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	switch {
	case !ok:
		return "https://" + address
	case strings.EqualFold(scheme, "grpcs"):
		return "https://" + rest
	case strings.EqualFold(scheme, "grpc"):
		return "http://" + rest
	}
	return address
}

// Origins are the ids of agents by the origins that they are at.
type Origins map[string][]string

// OriginsOf collects the origins (RFC 6454) of the agents' interfaces and cards.
func OriginsOf(agents []*Agent) Origins {
	all := Origins{}
	for _, a := range agents {
		for _, o := range a.Origins() {
			all[o] = append(all[o], a.ID)
		}
	}
	return all
}

// Others reports whether other agents than one are at the origin of an address.
func (o Origins) Others(u *url.URL, id string) bool {
	return slices.ContainsFunc(o[credentials.Origin(u)], func(other string) bool { return other != id })
}
