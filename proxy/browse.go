package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
)

func newBrowse(p *Proxy) *wellknown.Browse {
	p.Catalog.Defaults()
	b := &wellknown.Browse{
		Documents: catalog.Documents{Config: p.Catalog, Base: p.PublicURL.String(), Host: p.Catalog.Name},
		Lists:     map[wellknown.Viewer]*wellknown.Roster{}, Shelves: make([]wellknown.Shelf, len(p.Agents)),
	}
	if b.Host == "" {
		b.Host = p.PublicURL.Host
	}
	b.Public = p.Catalog.Access == catalog.Public && slices.ContainsFunc(p.Agents, (*agents.Agent).Public)
	return b
}
