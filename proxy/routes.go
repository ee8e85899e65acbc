package proxy

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

const (
	agentsPath = "/agents/"
	skillsPath = "/skills/"
)

// handler serves a request that was found at a site.
type handler func(http.ResponseWriter, *http.Request, site)

// routes are the URLs of the gateway's own hosts, or those of hosts that belong to one
// agent. Which verb a path takes is A2A's business, and its refusal has A2A's shape.
type routes struct{ mux *chi.Mux }

// newRoutes are routes that lead nowhere yet.
func newRoutes(lost handler) *routes {
	t := &routes{chi.NewRouter()}
	nowhere := func(w http.ResponseWriter, r *http.Request) { lost(w, r, site{}) }
	t.mux.NotFound(nowhere)
	t.mux.MethodNotAllowed(nowhere) // verbs that chi has never heard of
	return t
}

// fix adds one path.
func (t *routes) fix(path string, h handler) {
	t.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { h(w, r, site{fixed: path}) })
}

// below adds all that lies below a path, which ends with a slash; with single, what has
// one segment only, which is an agent's id.
func (t *routes) below(path string, single bool, h handler) {
	pattern := path + "*"
	if single {
		pattern = path + "{agent}"
	}
	t.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		h(w, r, site{fixed: path, rest: written(r)[len(path)-1:]})
	})
}

// mount adds what belongs to agents: base is "" where the host names the agent.
func (t *routes) mount(base string, call, card handler) {
	for _, prefix := range []string{base, base + skillsPath + "{skill}"} {
		t.mux.HandleFunc(prefix+cardPath, ofAgent(card))
		t.mux.HandleFunc(prefix+legacyCardPath, ofAgent(card))
		if prefix != "" {
			t.mux.HandleFunc(prefix, ofAgent(call))
		}
		t.mux.HandleFunc(prefix+"/*", ofAgent(call))
	}
}

// ofAgent finds the site of a route that mount added.
func ofAgent(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, at := chi.RouteContext(r.Context()), site{rest: written(r)}
		for i, key := range c.URLParams.Keys {
			switch value := c.URLParams.Values[i]; key {
			case "agent":
				at.agent, at.rest = value, at.rest[len(agentsPath)+len(value):]
			case "skill":
				at.skill, at.rest = value, at.rest[len(skillsPath)+len(value):]
			}
		}
		h(w, r, at)
	}
}

// written is a path as it was written.
func written(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// site is where in the routes a request is.
type site struct {
	fixed string // the path of the route, where it is none of one agent
	agent string // the id in the path
	skill string // the skill in the path
	rest  string // of the path, below any of these
}

// base reports whether a site is the base of one agent, or of all.
func (at *site) base() bool {
	switch at.fixed {
	case "":
		return at.rest == "/" || at.rest == "" && at.agent+at.skill != ""
	case sharedPath, sharedPath + "/":
		return at.rest == "" || at.rest == "/"
	}
	return false
}

// pattern is the route for telemetry: of all agents the same.
func (at *site) pattern() string {
	switch {
	case at.fixed == metadataPath+agentsPath:
		return at.fixed + "{agent}"
	case strings.HasSuffix(at.fixed, "/"):
		return at.fixed + "*"
	case at.fixed != "":
		return at.fixed
	}
	pattern := ""
	if at.agent != "" {
		pattern = agentsPath + "{agent}"
	}
	if at.skill != "" {
		pattern += skillsPath + "{skill}"
	}
	switch at.rest {
	case "", cardPath, legacyCardPath:
		return pattern + at.rest
	}
	return pattern + "/*"
}
