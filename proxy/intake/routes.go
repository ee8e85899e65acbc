package intake

import (
	"cmp"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Routes are the URLs of the gateway's own hosts, or those of hosts that belong to one
// agent. Which verb a path takes is A2A's business, and its refusal has A2A's shape.
//
// chi finds the route and nothing more: to serve it, it would copy each request for a
// context that says what was found, and once more into the request's path values.
type Routes struct {
	Tree *chi.Mux
	Lead map[string]Route // by pattern
	base record.Handler   // of agents, which is where most calls go; nil where a host has one agent
	Lost record.Handler

	Rpcs      map[string]bool // the sites of gRPC, by what is fixed of them
	Preflight record.Handler  // of what pages are about to ask; nil where none may call
}

// Route is where a pattern leads.
type Route struct {
	serve record.Handler
	site  func(found *chi.Context, path string) exchange.Site
}

// searches are what chi looks for routes with.
var searches = sync.Pool{New: func() any { return chi.NewRouteContext() }}

// Serve serves what is at a path, which is that of the request or a part of it.
//
// The path of most calls, /agents/{agent} with POST, is recognised before the tree is searched.
func (t *Routes) Serve(w http.ResponseWriter, r *http.Request, path string) {
	if id, ok := strings.CutPrefix(path, exchange.AgentsPath); ok && id != "" && strings.IndexByte(id, '/') < 0 &&
		t.base != nil && r.Method == http.MethodPost {
		t.base(w, r, exchange.Site{Agent: id}) // as a search would find
		return
	}
	h, at := t.find(r.Method, path)
	switch {
	case t.Preflight != nil && preflights(r) && at.ForPages():
		h = t.Preflight
	case h == nil:
		h = t.Lost
	}
	h(w, r, at)
}

// find gives what serves a path, nil where nothing does.
func (t *Routes) find(verb, path string) (record.Handler, exchange.Site) {
	search, _ := searches.Get().(*chi.Context)
	defer searches.Put(search)
	search.Reset()
	// Verbs that chi has never heard of have no route either.
	to := t.Lead[t.Tree.Find(search, verb, cmp.Or(path, "/"))]
	if to.serve == nil {
		return nil, exchange.Site{}
	}
	return to.serve, to.site(search, path)
}

// isRPC reports whether there is something of gRPC's at a path. What a request says that it
// is makes no other path one.
func (t *Routes) isRPC(verb, path string) bool {
	h, at := t.find(verb, path)
	return h != nil && t.Rpcs[at.Fixed]
}

// add has a pattern lead somewhere.
func (t *Routes) add(pattern string, h record.Handler, at func(*chi.Context, string) exchange.Site) {
	t.Tree.Handle(pattern, http.NotFoundHandler()) // which is never asked
	t.Lead[pattern] = Route{h, at}
}

// Fix adds one path.
func (t *Routes) Fix(path string, h record.Handler) {
	t.add(path, h, func(*chi.Context, string) exchange.Site { return exchange.Site{Fixed: path} })
}

// FixTools adds a path of the server of MCP.
func (t *Routes) FixTools(path string, h record.Handler) {
	t.add(path, h, func(*chi.Context, string) exchange.Site { return exchange.Site{Fixed: path, Tools: true} })
}

// Below adds all that lies below a path, which ends with a slash; with single, what has
// one segment only, which is an agent's id.
func (t *Routes) Below(path string, single bool, h record.Handler) {
	pattern := path + "*"
	if single {
		pattern = path + "{agent}"
	}
	t.add(pattern, h, func(_ *chi.Context, written string) exchange.Site {
		return exchange.Site{Fixed: path, Rest: written[len(path)-1:]}
	})
}

// Mount adds what belongs to agents: base is "" where the host names the agent. Clients that
// take the base for the address of the card get it there too.
func (t *Routes) Mount(base string, call, card record.Handler) {
	either := func(w http.ResponseWriter, r *http.Request, at exchange.Site) {
		if at.Base() && Reads(r.Method) {
			card(w, r, at)
			return
		}
		call(w, r, at)
	}
	for _, prefix := range []string{base, base + exchange.SkillsPath + "{skill}"} {
		t.add(prefix+exchange.CardPath, card, ofAgent)
		t.add(prefix+exchange.LegacyCardPath, card, ofAgent)
		if prefix != "" {
			t.add(prefix, either, ofAgent)
		}
		if prefix == exchange.AgentsPath+"{agent}" {
			t.base = call
		}
		t.add(prefix+"/*", either, ofAgent)
	}
}

// Reads reports whether a verb asks for a document.
func Reads(verb string) bool { return verb == http.MethodGet || verb == http.MethodHead }

// ofAgent is the site of a route that mount added.
func ofAgent(found *chi.Context, path string) exchange.Site {
	at := exchange.Site{Rest: path}
	for i, key := range found.URLParams.Keys {
		switch value := found.URLParams.Values[i]; key {
		case "agent":
			at.Agent, at.Rest = value, at.Rest[len(exchange.AgentsPath)+len(value):]
		case "skill":
			at.Skill, at.Rest = value, at.Rest[len(exchange.SkillsPath)+len(value):]
		}
	}
	return at
}

// Written is a path as it was written.
func Written(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// allowed are the verbs that some path of the listener has.
const allowed = "DELETE, GET, HEAD, OPTIONS, POST"

// ServeOptions answers "OPTIONS *", by which clients and proxies find out whether a server
// is there and which verbs it has, without asking for anything (RFC 9110 §9.3.7). It is the
// same for everybody.
func (fe *Frontend) ServeOptions(x *exchange.Exchange) error {
	if _, err := fe.Screen(x); err != nil {
		return err
	}
	exchange.Guard(x.Writer.Header())
	x.Writer.Header().Set("Allow", allowed)
	x.Writer.WriteHeader(http.StatusNoContent)
	return nil
}
