package translate

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// route writes verb and path of an HTTP+JSON call. An id that the other side would
// read as something else than an id is refused: one with a slash in it, one that
// ends in a verb.
func (o *Outbound) route(tenant string) *wire.Error {
	m, v := o.Call.Method, o.Call.Version
	o.Verb = verbOf(m, v)
	template := m.Path
	if v == wire.V03 {
		template = first(m.Path03, "/v1"+m.Path)
	}
	o.Path = strings.Replace(template, "{task}", url.PathEscape(o.Call.TaskID), 1)
	if before, ok := strings.CutSuffix(o.Path, "{config}"); ok { // an id may look like this, but not end the path
		o.Path = before + url.PathEscape(o.Call.ConfigID)
	}
	r, ok := o.Call.Extra.ByRoute(o.Verb, o.Path)
	named := strings.Contains(template, "{config}")
	if !ok || r.Method != m || r.Tenant != "" || r.Version != v ||
		strings.Contains(template, "{task}") && r.TaskID != o.Call.TaskID || named && r.ConfigID != o.Call.ConfigID {
		return wire.Errorf(wire.InvalidParams, "Invalid parameters: an id cannot be part of a path")
	}
	if tenant != "" {
		o.Path = "/" + url.PathEscape(tenant) + o.Path
	}
	return nil
}

// verbOf is the verb to send. A subscription of 1.0 has two: the text says POST, the proto GET.
func verbOf(m *wire.Method, v wire.Version) string {
	if m.Name == wire.SubscribeToTask && v == wire.V10 {
		return http.MethodPost // what the text says, and all releases of a2a-go know
	}
	return m.Verbs[0]
}

// inURL reports whether the URL says everything: only a POST has a body.
func inURL(verb string) bool { return verb != http.MethodPost }
