package card

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Offered is one way to reach the agent through the gateway: an entry of a
// served card's interfaces, whose URLs are the gateway's and never the agent's.
type Offered struct {
	Version wire.Version // V10 or V03; 0.1 has no entries, its readers go by 0.3's url
	Binding wire.Binding

	// URL is what clients of the binding want: a URL, or for GRPC host:port, which
	// is what every SDK dials. "" is the view's BaseURL, for GRPC its host and port.
	URL string

	// Tenant is put into every request by clients that choose the entry. Entries
	// of 0.3, which has no place for it, are written without.
	Tenant string
}

// standard is what can be said without knowing the listeners: both HTTP bindings
// in both versions, under the base URL. 1.0 has them once per tenant, in the
// agent's order, since the tenant is part of how clients name this agent.
func standard(agent []Interface) []Offered {
	if len(agent) == 0 {
		return nil // there is nobody to translate for
	}
	var tenants []string
	for _, i := range agent {
		if i.Version == wire.V10 && !slices.Contains(tenants, i.Tenant) {
			tenants = append(tenants, i.Tenant)
		}
	}
	if tenants == nil {
		tenants = []string{""}
	}
	var out []Offered
	for _, tenant := range tenants {
		out = append(out,
			Offered{Version: wire.V10, Binding: wire.JSONRPC, Tenant: tenant},
			Offered{Version: wire.V10, Binding: wire.HTTPJSON, Tenant: tenant})
	}
	return append(out,
		Offered{Version: wire.V03, Binding: wire.JSONRPC},
		Offered{Version: wire.V03, Binding: wire.HTTPJSON})
}

// offered is the list of entries with their URLs, without repeats. 1.0 comes
// first, since clients take the first entry they understand.
func (w *writer) offered() []Offered {
	list := w.view.Offer
	if list == nil {
		agent := w.view.Interfaces
		if agent == nil {
			agent = w.card.Interfaces
		}
		list = standard(agent)
	}
	var out []Offered
	for _, version := range [...]wire.Version{wire.V10, wire.V03} {
		for _, o := range list {
			if o.Version != version || o.Binding.String() == "" {
				continue
			}
			o.URL = w.address(o)
			if version == wire.V03 {
				o.Tenant = ""
			}
			if !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	return out
}

// address is where an interface is offered: a URL, or for gRPC the host and port, which is what its
// clients dial.
func (w *writer) address(o Offered) string {
	switch {
	case o.URL != "":
		return o.URL
	case o.Binding == wire.GRPC:
		_, host, _ := strings.Cut(origin(w.view.BaseURL), "://")
		return host
	}
	return w.view.BaseURL
}

// endpoints writes the gateway's interfaces in the members of the generations
// that the form has.
func (w *writer) endpoints(o *object) {
	offered := w.offered()
	if w.legacy {
		legacyEndpoints(o, w.absolute(offered))
	}
	if w.modern {
		o.put("supportedInterfaces", modernEndpoints(offered))
	}
}

// absolute gives entries of gRPC a scheme in 0.3's own form, since 0.3 asks for absolute URLs
// (AgentInterface.url) and its test kit takes them apart as such. The mixed form has what
// clients dial, who would not find a host with the scheme before it.
func (w *writer) absolute(offered []Offered) []Offered {
	if w.modern || w.proto {
		return offered
	}
	scheme, _, _ := strings.Cut(w.view.BaseURL, "://")
	offered = slices.Clone(offered)
	for n, o := range offered {
		if o.Binding == wire.GRPC && !strings.Contains(o.URL, "://") {
			offered[n].URL = scheme + "://" + o.URL
		}
	}
	return offered
}

// modernEndpoints writes supportedInterfaces of 1.0.
func modernEndpoints(offered []Offered) jsontext.Value {
	var list []jsontext.Value
	for _, i := range offered {
		entry := object{
			{"url", quote(i.URL)},
			{"protocolBinding", quote(i.Binding.String())},
			{"protocolVersion", quote(string(i.Version))},
		}
		if i.Tenant != "" {
			entry.put("tenant", quote(i.Tenant))
		}
		list = append(list, entry.encode())
	}
	return array(list)
}

// legacyEndpoints writes 0.3's members, the main interface being the JSON-RPC
// one where there is one: the oldest clients post JSON-RPC to url without
// looking at the transport.
func legacyEndpoints(o *object, offered []Offered) {
	var main *Offered
	var list []jsontext.Value
	for n, i := range offered {
		if i.Version != wire.V03 {
			continue
		}
		if main == nil || main.Binding != wire.JSONRPC && i.Binding == wire.JSONRPC {
			main = &offered[n]
		}
		list = append(list, object{{"url", quote(i.URL)}, {"transport", quote(i.Binding.String())}}.encode())
	}
	if main == nil {
		return // a URL that answers no call its reader can make would be worse than none
	}
	o.put("url", quote(main.URL))
	o.put("protocolVersion", quote("0.3.0"))
	// Never left to its default: Go's mixed-card reader drops the interface then.
	o.put("preferredTransport", quote(main.Binding.String()))
	o.put("additionalInterfaces", array(list))
}
