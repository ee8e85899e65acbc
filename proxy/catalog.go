package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
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
