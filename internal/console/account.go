package console

import (
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// me is the answer of GET /api/v1/session: who asks.
type me struct {
	Name     string    `json:"name" doc:"name of the caller, as in audit records"`
	Role     api.Role  `json:"role"`
	Method   string    `json:"method" doc:"how the caller authenticated"`
	Label    string    `json:"label,omitzero" doc:"display name of the caller"`
	CSRF     string    `json:"csrf,omitzero" doc:"value of X-CSRF-Token, which changes in a session must send"`
	Expires  time.Time `json:"expires,omitzero"`
	ReadOnly bool      `json:"readOnly" doc:"the API refuses all changes (admin.readOnly)"`
	Content  bool      `json:"content" doc:"operators may see the captured content of calls (admin.content)"`
}

// me is who asks.
func (a *access) me(c *api.Call) me {
	me := me{
		Name: c.Caller.Name, Role: c.Caller.Role, Method: c.Caller.Method, Label: c.Caller.Label, Expires: c.Caller.Expires, ReadOnly: a.config.ReadOnly,
		Content: a.config.Content,
	}
	if c.Caller.Session != nil {
		me.CSRF = c.Caller.Session.CSRF
	}
	return me
}

// account answers about the API itself, and about who asks. document is a function, since
// the document is made of all screens, of which this is one.
type account struct {
	*access
	document func() (jsontext.Value, error)
}

// accountScreen is that of who asks, and of what the API has.
func accountScreen(a *access, document func() (jsontext.Value, error)) api.Screen {
	s := &account{a, document}
	return api.Screen{
		Title: "Account", Page: "/account", Link: true,
		Shows: "your name, role and session, and the operations of the API",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/openapi.json", ID: "openapi", Tag: "api", Role: api.Viewer,
				Summary: "Get this document", Out: reflect.TypeFor[jsontext.Value](), Answer: s.openapi,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/session", ID: "session", Tag: "api", Role: api.Viewer,
				Summary: "Show who makes the request, and with which role", Out: reflect.TypeFor[me](), Answer: s.session,
			},
		},
	}
}

// openapi answers with the document of the API (OpenAPI 3.1), as the version that runs has
// it.
func (s *account) openapi(*api.Call) (any, error) { return s.document() }

// session answers with who asks; the pages show or hide by it what the caller may not do.
func (s *account) session(c *api.Call) (any, error) { return s.me(c), nil }
