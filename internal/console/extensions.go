package console

import (
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
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

// extensionOperations are those about extensions.
var extensionOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/extensions", id: "list-extensions", tag: "extensions", role: Viewer,
		summary: "The registry of extensions, and what calls did with them", out: reflect.TypeFor[Registry](), answer: (*Console).extensions,
	},
	{
		method: http.MethodGet, path: "/api/v1/extensions/agents", id: "extension-adoption", tag: "extensions", role: Viewer,
		summary: "What extensions are on each agent, by the agents' ids", params: pages(),
		out: reflect.TypeFor[AdoptionPage](), answer: (*Console).adoption,
	},
	{
		method: http.MethodGet, path: "/api/v1/extensions/agents/{id}", id: "agent-extensions", tag: "extensions", role: Viewer,
		summary: "What extensions are on one agent, and why", out: reflect.TypeFor[Standing](), errors: []string{codeNoAgent},
		answer: (*Console).standing,
	},
}

func (s *Console) extensions(*call) (any, error) { return s.Extensions.Registry(), nil }

func (s *Console) adoption(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	list := s.Extensions.Adoption(after, limit+1) // one more: is there more?
	page := AdoptionPage{Agents: list[:min(limit, len(list))]}
	if len(list) > limit {
		page.Next = cursor(list[limit-1].Agent)
	}
	return page, nil
}

func (s *Console) standing(c *call) (any, error) {
	of, ok := s.Extensions.Of(c.PathValue("id"))
	if !ok {
		return nil, noAgent()
	}
	return of, nil
}
