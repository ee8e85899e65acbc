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
	Since      time.Time    `json:"since" doc:"when this gateway began to count; others count for themselves"`
	Extensions []Registered `json:"extensions" doc:"as extensions: lists them; behind these what calls asked for beside: other is all that is not known, none what files had wrong"`
}

// Registered is an extension that the gateway knows.
type Registered struct {
	URI           string      `json:"uri"`
	Description   string      `json:"description,omitzero"`
	Kind          string      `json:"kind" doc:"what it adds to A2A: data, profile, method or state; other for what is not registered"`
	Status        string      `json:"status" doc:"allowed, deprecated or blocked; other for what is not registered"`
	Replacement   string      `json:"replacement,omitzero"`
	Sunset        string      `json:"sunset,omitzero" doc:"the last day of a deprecated one"`
	Specification string      `json:"specification,omitzero"`
	Validation    string      `json:"validation,omitzero" doc:"how its schemas and states are held: off, report or enforce"`
	Methods       []string    `json:"methods,omitzero" doc:"that it adds"`
	Hooks         int         `json:"hooks" doc:"services that see its calls"`
	Calls         Negotiated  `json:"calls"`
	Violations    []Violation `json:"violations" doc:"what bodies held against it"`
}

// Negotiated is what became of an extension in calls.
type Negotiated struct {
	Activated int64 `json:"activated" doc:"asked for, and activated by the agent"`
	Inactive  int64 `json:"inactive" doc:"asked for, and not activated"`
	Refused   int64 `json:"refused" doc:"asked for, and not permitted"`
	Injected  int64 `json:"injected" doc:"asked for by the gateway alone"`
	Provided  int64 `json:"provided" doc:"done by the gateway"`
}

// Violation is how often bodies were wrong in one way.
type Violation struct {
	Fault    string `json:"fault" doc:"as in audit records"`
	Enforced bool   `json:"enforced" doc:"it was refused or taken out, and not recorded only"`
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
	Card       bool      `json:"card" doc:"its card is known; without it nothing counts as declared"`
	Extensions []Adopted `json:"extensions"`
}

// Adopted is one extension on an agent.
type Adopted struct {
	URI      string `json:"uri"`
	Standing string `json:"standing" doc:"in a call that no rule says more of: required, offered, provided, injected, denied or absent"`
	Declared bool   `json:"declared" doc:"by the agent's card"`
	Required bool   `json:"required" doc:"by the agent's card"`
}

// Standing is the answer of GET /api/v1/extensions/agents/{id}.
type Standing struct {
	Agent      string        `json:"agent"`
	Card       bool          `json:"card" doc:"its card is known"`
	Extensions []ext.Account `json:"extensions"`
}

// screen answers about extensions.
type screen struct{ all Extensions }

// Screen is that of extensions.
func Screen(all Extensions) api.Screen {
	s := &screen{all}
	return api.Screen{
		Title: "Extensions", Page: "/extensions", Link: true,
		Shows: "registered extensions and those that agent cards declare without being registered; how many agents declare or require each, how often calls activated it, and violations; agents × extensions, and the reasons for each agent",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/extensions", ID: "list-extensions", Tag: "extensions", Role: api.Viewer,
				Summary: "The registry of extensions, and what calls did with them", Out: reflect.TypeFor[Registry](), Answer: s.extensions,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/extensions/agents", ID: "extension-adoption", Tag: "extensions", Role: api.Viewer,
				Summary: "What extensions are on each agent, by the agents' ids", Pages: true,
				Out: reflect.TypeFor[AdoptionPage](), Answer: s.adoption,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/extensions/agents/{id}", ID: "agent-extensions", Tag: "extensions", Role: api.Viewer,
				Summary: "What extensions are on one agent, and why", Out: reflect.TypeFor[Standing](), Errors: []api.Code{api.NoAgent},
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
