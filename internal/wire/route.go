package wire

import (
	"net/url"
	"slices"
	"strings"
)

// Route is the operation behind an HTTP+JSON request line.
type Route struct {
	Method   *Method  // nil when the path is known, but not with this verb
	Version  Version  // V03 under /v1, else V10
	Tenant   string   // leading path segment of 1.0, decoded; "" when there is none
	TaskID   string   // decoded
	ConfigID string   // decoded
	Allow    []string // verbs the path has; set only when Method is nil
}

// ByRoute finds the operation behind an HTTP+JSON request. path is relative to
// the interface URL and still percent-encoded ("/v1/tasks/7:cancel",
// "/acme/message:send"). Under /v1 it is V03; else V10, where any known path may
// follow a tenant's segment (A2A 1.0 §11.3). A path that is known without a
// tenant is never read as one with a tenant.
//
// A path that is known but not with this verb gives a Route with Method nil and
// Allow set. The result is false for every other path, and for every path that
// servers do not read alike: empty or dot segments, and encodings of what
// separates segments and verbs.
//
//	POST /message:send                  1.0: SendMessage
//	POST /acme/message:send             1.0: SendMessage, tenant acme
//	GET  /v1/tasks/T                    0.3: GetTask of T
//	GET  /tasks/T:cancel                Method nil, Allow POST: 405 (RFC 9110 §15.5.6)
//	GET  /tasks//T, /tasks/../card      false: servers differ in whether they clean such paths
func ByRoute(verb, path string) (Route, bool) { return coreRoutes.find(verb, path, everyMethod) }

// everyMethod hides nothing: A2A's own methods are there for everyone.
func everyMethod(*Method) bool { return true }

// find is ByRoute in these tables, for who may find the methods that shows says yes to.
func (t *routeTable) find(verb, path string, shows func(*Method) bool) (Route, bool) {
	segments, ok := split(path)
	if !ok {
		return Route{}, false
	}
	r, ok := t.read(verb, segments, shows)
	if !ok || r.Method == nil && r.Allow == nil { // all that has the path is hidden
		return Route{}, false
	}
	return r, true
}

// read tells what a path means, with a tenant or without.
func (t *routeTable) read(verb string, segments []string, shows func(*Method) bool) (Route, bool) {
	if len(segments) > 1 && segments[0] == "v1" {
		return t.v03.match(verb, segments, shows)
	}
	if r, ok := t.v10.match(verb, segments, shows); ok {
		return r, true
	}
	r, ok := t.v10.match(verb, segments[1:], shows)
	if !ok {
		return Route{}, false
	}
	r.Tenant, ok = t.v10.decodeTenant(segments)
	return r, ok
}

// decodeTenant decodes the first segment. What servers that decode first, or
// that take no notice of case, could read as another path is no tenant.
func (rs *routes) decodeTenant(segments []string) (string, bool) {
	raw := segments[0]
	tenant, ok := rs.decodeSegment(raw)
	if !ok || strings.EqualFold(tenant, "v1") {
		return "", false
	}
	if tenant != raw {
		segments[0] = tenant
		_, other := rs.match("", segments, everyMethod)
		return tenant, !other
	}
	return tenant, true
}

// longestPath is how many segments a path may have: a tenant and 1.0's longest,
// /tasks/{task}/pushNotificationConfigs/{config}.
const longestPath = 5

// split cuts path at its slashes.
//
// The last piece of SplitN holds all that is too many, so a path of a million slashes costs five cuts.
func split(path string) ([]string, bool) {
	if len(path) < 2 || path[0] != '/' {
		return nil, false
	}
	segments := strings.SplitN(path[1:], "/", longestPath+1)
	if len(segments) > longestPath || slices.Contains(segments, "") {
		return nil, false
	}
	return segments, true
}

// route is one path of one version, with every operation that has it.
type route struct {
	segments []segment
	methods  []*Method // differ in their verbs
}

// segment is one piece of a path: a literal, or an id with a verb behind it.
type segment struct {
	literal string // "tasks", "message:send"; "" for an id
	config  bool   // the id is a push config's, not a task's
	suffix  string // ":cancel" behind an id, or ""
}

// routes are the paths of one version.
type routes struct {
	version  Version
	paths    []route
	suffixes []string // the verbs that may stand behind an id, in either version
}

// routeTable has the paths of both versions that have any.
type routeTable struct{ v10, v03 routes }

// coreRoutes are A2A's own.
var coreRoutes = newRouteTable(coreMethods())

// coreMethods are the rows of the table by their addresses, which is what makes two of them the same.
func coreMethods() []*Method {
	list := make([]*Method, len(methods))
	for i := range methods {
		list[i] = &methods[i]
	}
	return list
}

// newRouteTable makes the tables of 1.0 and 0.3. A verb that ends an id in one of them ends it in the
// other too.
func newRouteTable(list []*Method) *routeTable {
	t := &routeTable{newRoutes(V10, list), newRoutes(V03, list)}
	t.v10.suffixes = suffixes(t.v10)
	t.v03.suffixes = t.v10.suffixes
	return t
}

// path is the method's in a version that has HTTP+JSON, "" where it has none.
func (m *Method) path(v Version) string {
	switch {
	case m.Path == "", v == V10:
		return m.Path
	case m.Path03 != "":
		return m.Path03
	}
	return "/v1" + m.Path
}

// newRoutes collects the paths of one version. Methods that share one differ in their verbs, as
// creating and listing configs do.
func newRoutes(v Version, list []*Method) routes {
	rs := routes{version: v}
	index := make(map[string]int)
	for _, m := range list {
		path := m.path(v)
		if path == "" {
			continue
		}
		at, ok := index[path]
		if !ok {
			at = len(rs.paths)
			index[path] = at
			rs.paths = append(rs.paths, route{segments: parseTemplate(path)})
		}
		rs.paths[at].methods = append(rs.paths[at].methods, m)
	}
	return rs
}

// parseTemplate reads a path of the table: /tasks/{task}:cancel is the literal tasks and an id with the
// suffix :cancel.
func parseTemplate(path string) []segment {
	var list []segment
	for s := range strings.SplitSeq(path[1:], "/") {
		if suffix, ok := strings.CutPrefix(s, "{task}"); ok {
			list = append(list, segment{suffix: suffix})
		} else if s == "{config}" {
			list = append(list, segment{config: true})
		} else {
			list = append(list, segment{literal: s})
		}
	}
	return list
}

// suffixes are the verbs that some path has behind an id, such as :cancel and :subscribe.
func suffixes(rs routes) []string {
	var list []string
	for _, p := range rs.paths {
		if s := p.segments[len(p.segments)-1].suffix; s != "" {
			list = append(list, s)
		}
	}
	return list
}

// match finds the path. No two of a version's paths match the same segments.
//
// A path of no verb that is asked for still gives its route: Allow has what 405 must name
// (RFC 9110 §15.5.6).
func (rs *routes) match(verb string, segments []string, shows func(*Method) bool) (Route, bool) {
	for _, p := range rs.paths {
		r := Route{Version: rs.version}
		if len(p.segments) != len(segments) || !rs.fits(p, segments, &r) {
			continue
		}
		for _, m := range p.methods {
			if slices.Contains(m.Verbs, verb) && shows(m) {
				r.Method = m
				return r, true
			}
		}
		for _, m := range p.methods {
			if shows(m) {
				r.Allow = append(r.Allow, m.Verbs...)
			}
		}
		return r, true
	}
	return Route{}, false
}

// fits reports whether the segments, as many as p has, are p's.
func (rs *routes) fits(p route, segments []string, r *Route) bool {
	for i, s := range p.segments {
		if s.literal != "" {
			if segments[i] != s.literal {
				return false
			}
			continue
		}
		// Only the last segment can carry a verb; before it, a colon is a colon.
		raw, suffix, exact := segments[i], "", true
		if i == len(segments)-1 && !s.config {
			raw, suffix, exact = rs.cutVerb(raw)
		}
		id, ok := rs.decodeSegment(raw)
		if !ok || !exact || suffix != s.suffix {
			return false
		}
		if s.config {
			r.ConfigID = id
		} else {
			r.TaskID = id
		}
	}
	return true
}

// cutVerb splits an id from the verb behind it, at the last colon and only for
// verbs that exist: ids may hold colons. exact is false for a verb in another
// case, which is a verb to some servers and a piece of the id to others.
//
//	T:cancel     the id T and the verb :cancel
//	a:b:cancel   the id a:b and the verb :cancel
//	a:b          the id a:b
//	T:CANCEL     not exact, and so no path at all
func (rs *routes) cutVerb(s string) (id, suffix string, exact bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return s, "", true
	}
	for _, verb := range rs.suffixes {
		if strings.EqualFold(s[i:], verb) {
			return s[:i], verb, s[i:] == verb
		}
	}
	return s, "", true
}

// decodeSegment decodes an id or tenant once. An encoded slash would be two
// segments to servers that decode before they split, an encoded colon before a
// verb would be that verb; dots would be cleaned away.
//
//	a%20b   a b
//	a%2Fb   refused: two segments to some servers
//	T%3Acancel   refused: the verb :cancel to some
//	%2e%2e  refused: cleaned away by others
func (rs *routes) decodeSegment(raw string) (string, bool) {
	s := raw
	if strings.IndexByte(raw, '%') >= 0 {
		var err error
		if s, err = url.PathUnescape(raw); err != nil {
			return "", false
		}
		if _, suffix, _ := rs.cutVerb(s); suffix != "" {
			return "", false
		}
	}
	if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "/\\") {
		return "", false
	}
	return s, true
}
