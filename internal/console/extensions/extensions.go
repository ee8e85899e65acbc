package extensions

import (
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Extensions are those that the gateway knows, and what they are on each agent.
type Extensions interface {
	// Registry has those of the configuration, and what calls did with them.
	Registry() Registry
	// Adoption has the agents behind the one of this id, so many at most, by their ids.
	Adoption(after string, limit int) []Adoption
	// Of says of one agent why its extensions are what they are; false where there is none
	// of that id.
	Of(agent string) (Standing, bool)
}

// Registry is the answer of GET /api/v1/extensions.
type Registry struct {
	Since      time.Time    `json:"since" doc:"when this gateway began to count; each replica counts for itself"`
	Extensions []Registered `json:"extensions" doc:"registered extensions, in the order of the configuration; then other, for unregistered extensions that calls requested, and none, for violations in files"`
}

// Registered is an extension that the gateway knows.
type Registered struct {
	URI           string      `json:"uri"`
	Description   string      `json:"description,omitzero"`
	Kind          string      `json:"kind" doc:"kind of the extension: data, profile, method or state; other for unregistered ones"`
	Status        string      `json:"status" doc:"status of the extension: allowed, deprecated or blocked; other for unregistered ones"`
	Replacement   string      `json:"replacement,omitzero"`
	Sunset        string      `json:"sunset,omitzero" doc:"last day of a deprecated extension"`
	Specification string      `json:"specification,omitzero"`
	Validation    string      `json:"validation,omitzero" doc:"how the gateway validates schemas and states: off, report or enforce"`
	Methods       []string    `json:"methods,omitzero" doc:"methods that the extension adds"`
	Hooks         int         `json:"hooks" doc:"number of services that see calls with this extension"`
	Calls         Negotiated  `json:"calls"`
	Violations    []Violation `json:"violations" doc:"violations that the gateway found in bodies"`
}

// Negotiated is what became of an extension in calls.
type Negotiated struct {
	Activated int64 `json:"activated" doc:"calls that requested the extension, and the agent activated it"`
	Inactive  int64 `json:"inactive" doc:"calls that requested the extension, and the agent did not activate it"`
	Refused   int64 `json:"refused" doc:"calls that requested the extension, and the gateway refused it"`
	Injected  int64 `json:"injected" doc:"calls to which the gateway added the extension"`
	Provided  int64 `json:"provided" doc:"calls for which the gateway provided the extension"`
}

// Violation is how often bodies were wrong in one way.
type Violation struct {
	Fault    string `json:"fault" doc:"kind of violation, as in audit records"`
	Enforced bool   `json:"enforced" doc:"the gateway refused or removed it; if false, it only recorded it"`
	Count    int64  `json:"count"`
}

// AdoptionPage is the answer of GET /api/v1/extensions/agents.
type AdoptionPage struct {
	Agents []Adoption `json:"agents"`
	Next   string     `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// Adoption is what extensions are on an agent.
type Adoption struct {
	Agent      string    `json:"agent"`
	Card       bool      `json:"card" doc:"the gateway knows the agent's card; without it, no extension counts as declared"`
	Extensions []Adopted `json:"extensions"`
}

// Adopted is one extension on an agent.
type Adopted struct {
	URI      string `json:"uri"`
	Standing string `json:"standing" doc:"standing in a call without further rules: required, offered, provided, injected, denied or absent"`
	Declared bool   `json:"declared" doc:"the agent's card declares the extension"`
	Required bool   `json:"required" doc:"the agent's card requires the extension"`
}

// Standing is the answer of GET /api/v1/extensions/agents/{id}.
type Standing struct {
	Agent      string        `json:"agent"`
	Card       bool          `json:"card" doc:"the gateway knows the agent's card"`
	Extensions []ext.Account `json:"extensions"`
}

// screen answers about extensions.
type screen struct{ all Extensions }

// Screen is that of extensions.
func Screen(all Extensions) api.Screen {
	s := &screen{all}
	return api.Screen{
		Title: "Extensions", Page: "/extensions", Link: true,
		Shows: "registered extensions, and unregistered ones that agent cards declare; for each, the agents that declare or require it, its activations and violations; a matrix of agents and extensions, and the reasons for each agent",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/extensions", ID: "list-extensions", Tag: "extensions", Role: api.Viewer,
				Summary: "List the registered extensions, with their use in calls", Out: reflect.TypeFor[Registry](), Answer: s.extensions,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/extensions/agents", ID: "extension-adoption", Tag: "extensions", Role: api.Viewer,
				Summary: "List each agent with its extensions, ordered by agent id", Pages: true,
				Out: reflect.TypeFor[AdoptionPage](), Answer: s.adoption,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/extensions/agents/{id}", ID: "agent-extensions", Tag: "extensions", Role: api.Viewer,
				Summary: "Show the extensions of one agent, with the reason for each", Out: reflect.TypeFor[Standing](), Errors: []api.Code{api.NoAgent},
				Answer: s.standing,
			},
		},
	}
}

func (s *screen) extensions(*api.Call) (any, error) { return s.all.Registry(), nil }

func (s *screen) adoption(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	list := s.all.Adoption(after, limit+1) // one more: is there more?
	page := AdoptionPage{Agents: list[:min(limit, len(list))]}
	if len(list) > limit {
		page.Next = c.Cursor(list[limit-1].Agent)
	}
	return page, nil
}

func (s *screen) standing(c *api.Call) (any, error) {
	of, ok := s.all.Of(c.PathValue("id"))
	if !ok {
		return nil, api.NoAgent.Refuse("there is no such agent")
	}
	return of, nil
}
