package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/wellknown"
)

// mountCatalog adds the documents that list agents. They are about the whole gateway, and
// are not there on hosts that belong to one agent.
func (p *Proxy) mountCatalog(t *intake.Routes) {
	if p.Catalog.Access == catalog.None {
		return
	}
	for _, form := range []*catalog.Form{&catalog.Own, &catalog.Linkset, &catalog.AI} {
		t.Fix(form.Path, p.recorder.Do(p.documents.Enter, p.admissions.Admit, p.documents.Visit, func(x *exchange.Exchange) error {
			return p.documents.ServeCatalog(x, form)
		}))
	}
}

// newBrowse prepares the catalog. It is public only where some agent is: a catalog that could
// list nothing to strangers asks for a credential at once.
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
