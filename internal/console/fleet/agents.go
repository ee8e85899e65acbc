package fleet

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Agents are the fleet, of which those that are in no file can be registered here. The
// errors of Put and Remove that are the operator's to mend are those of this file.
type Agents interface {
	// All has every agent there is or should be, by the bytes of their ids.
	All(ctx context.Context) ([]Agent, error)
	// One is one of them, with what was registered; false where there is none of that id.
	One(ctx context.Context, id string) (Agent, bool, error)
	// Put registers an agent, in the place of one that was registered if Replace is set.
	// What it cannot serve it does not take.
	Put(ctx context.Context, id string, r Registration) error
	// Remove forgets one that was registered; false where there is none of that id.
	Remove(ctx context.Context, id string) (bool, error)
	// Trends are how many calls agents had lately.
	Trends() Trends
	// Draft is an agent's configuration to begin a draft with; false where there is no agent of that
	// id. The error is a DraftUnread where it is written nowhere, or cannot be read.
	Draft(ctx context.Context, id string) (AgentDraft, bool, error)
	// Check says what is wrong with a draft, as Put would; false as with Draft.
	Check(ctx context.Context, id string, text []byte) (AgentChecked, bool, error)
	// JSON is an agent in YAML as Put takes it. The error is AgentInvalid.
	JSON(text []byte) ([]byte, error)
}

// Registration is an agent that is to be registered.
type Registration struct {
	Doc     []byte // JSON
	Replace bool   // one that was registered
	Match   string // the Edition that this one has to have; "" for any
	By      string // who does it
}

// Errors of Agents.
var (
	ErrAgentsOff   = errors.New("agents cannot be registered: fleet.api is false")
	ErrAgentsFull  = errors.New("there are as many agents as may come from elsewhere than files (fleet.limit)")
	ErrAgentTaken  = errors.New("there is an agent of this id")
	ErrAgentOther  = errors.New("somebody has registered another agent of this id meanwhile: read it again, and change that one")
	ErrAgentInFile = errors.New("an agent of this id is in the configuration's files, which count")
)

// AgentInvalid says what is wrong with an agent that was to be registered.
type AgentInvalid []string

// Error implements error.
func (e AgentInvalid) Error() string { return strings.Join(e, "; ") }

// Where agents come from, in Agent.Origin.
const (
	FromFile       = "file"
	FromAPI        = "api"
	FromKubernetes = "kubernetes"
)

// Agent is one of the fleet. It is all that the API says of one.
type Agent struct {
	ID         string    `json:"id"`
	Origin     string    `json:"origin"`
	Source     string    `json:"source,omitzero"` // where exactly
	Registered time.Time `json:"registered,omitzero"`
	By         string    `json:"by,omitzero" doc:"who registered the current entry"`
	Served     bool      `json:"served"` // calls are taken for it
	State      string    `json:"state,omitzero" doc:"state of the agent, as in the metric agent_state and the log: whether calls reach it; absent if the gateway does not serve it"`
	Failure    string    `json:"failure,omitzero"` // why it is not served, or not serving: the state's word, and more

	// Those that would get no call first, then those that take longest, 32 at most; none of an
	// agent whose calls go wherever its card's URL leads.
	Instances []Instance `json:"instances,omitzero"`

	// What its card says that is in force; nothing without one.
	Version    string      `json:"version,omitzero"` // the agent's own
	Interfaces []Interface `json:"interfaces,omitzero"`
	Skills     []string    `json:"skills,omitzero"` // their ids

	// Agent is what was registered, without secrets: they are never shown again.
	Agent   jsontext.Value `json:"agent,omitzero"`
	Edition string         `json:"edition,omitzero" doc:"edition of the registered entry; each change makes a new one. A PUT with the edition in If-Match replaces only this edition"`
}

// Instance is one place where an agent answers.
type Instance struct {
	Address   string  `json:"address"`
	Healthy   bool    `json:"healthy" doc:"the instance can get the next call"`
	Why       string  `json:"why,omitzero" doc:"why the instance gets no calls"`
	Latency   float64 `json:"latency,omitzero" doc:"smoothed seconds until the head of an answer; absent before the first answer"`
	Calls     int     `json:"calls" doc:"calls in flight, streams included"`
	Ejections int     `json:"ejections" doc:"ejections since the gateway found the instance"`
}

// Interface is one way in which an agent is spoken to.
type Interface struct {
	Version string `json:"version"` // of A2A
	Binding string `json:"binding"`
}

// Trends is the answer of GET /api/v1/trends.
type Trends struct {
	Until  time.Time            `json:"until"`
	Every  float64              `json:"every" doc:"length of a step in seconds"`
	Agents map[string][]float64 `json:"agents" doc:"ended calls of each agent by step, latest step last; agents without calls are absent. The calls of unobserved steps are spread evenly"`
	Took   map[string]float64   `json:"took" doc:"mean time that each agent took to answer in these steps, in seconds, for streams until the head; agents without answers are absent"`
}

// AgentPage is the answer of GET /api/v1/agents.
type AgentPage struct {
	Agents []Agent `json:"agents"`
	Next   string  `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// Codes of agents that are to be registered.
var (
	agentExists  = api.Code{Name: "AGENT_EXISTS", Status: http.StatusConflict}
	agentInFile  = api.Code{Name: "AGENT_IN_FILE", Status: http.StatusConflict}
	agentOther   = api.Code{Name: "AGENT_CHANGED", Status: http.StatusPreconditionFailed}
	agentsFull   = api.Code{Name: "AGENTS_FULL", Status: http.StatusConflict}
	agentsOff    = api.Code{Name: "AGENTS_OFF", Status: http.StatusForbidden}
	noDraft      = api.Code{Name: "NO_DRAFT", Status: http.StatusConflict}
	invalidAgent = api.Code{Name: "INVALID_AGENT", Status: http.StatusBadRequest}
)

// agentErrors are what can be wrong with an agent that is to be registered.
var agentErrors = []api.Code{invalidAgent, agentsOff, agentsFull, agentExists, agentInFile, agentOther, api.NoAgent}

// screen answers about the fleet.
type screen struct{ fleet Agents }

// Screen is that of the fleet.
func Screen(fleet Agents) api.Screen {
	s := &screen{fleet}
	return api.Screen{
		Title: "Fleet", Page: "/fleet", Link: true,
		Shows: "all agents with their [status](fleet.md#agent-status), versions, bindings, skills, calls and mean response time of the last five minutes, card states and problems; search; filters for agents that do not serve and for cards pending approval",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/agents", ID: "list-agents", Tag: "agents", Role: api.Viewer,
				Summary: "List all agents, served or not", Pages: true, Out: reflect.TypeFor[AgentPage](), Answer: s.agents,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/trends", ID: "trends", Tag: "gateway", Role: api.Viewer,
				Summary: "Count the recent calls of each agent at this gateway, and say how long it took to answer", Out: reflect.TypeFor[Trends](), Answer: s.trends,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/agents", ID: "add-agent", Tag: "agents", Role: api.Admin, Writes: true,
				Summary: "Register an agent, in the form of an entry of agents: in the configuration", In: reflect.TypeFor[jsontext.Value](), YAML: true,
				Out: reflect.TypeFor[Agent](), Errors: agentErrors, Answer: s.addAgent,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/agents/{id}", ID: "get-agent", Tag: "agents", Role: api.Viewer,
				Summary: "Show one agent, with its registered entry but without secrets", Out: reflect.TypeFor[Agent](),
				Errors: []api.Code{api.NoAgent}, Answer: s.agent,
			},
			{
				Method: http.MethodPut, Path: "/api/v1/agents/{id}", ID: "put-agent", Tag: "agents", Role: api.Admin, Writes: true,
				Summary: "Replace a registered agent; markers in the entry keep its secrets", In: reflect.TypeFor[jsontext.Value](), YAML: true,
				Out: reflect.TypeFor[Agent](), Errors: agentErrors, Answer: s.putAgent,
			},
			{
				Method: http.MethodDelete, Path: "/api/v1/agents/{id}", ID: "remove-agent", Tag: "agents", Role: api.Admin, Writes: true,
				Summary: "Remove a registered agent", Out: reflect.TypeFor[api.Changed](),
				Errors: []api.Code{api.NoAgent, agentsOff, agentInFile}, Answer: s.removeAgent,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/agents/{id}/draft", ID: "get-draft", Tag: "agents", Role: api.Operator,
				Summary: "Get the configuration of an agent as YAML for a draft, with markers instead of secrets",
				Out:     reflect.TypeFor[AgentDraft](), Errors: []api.Code{api.NoAgent, noDraft}, Answer: s.draft,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/agents/{id}/check", ID: "check-agent", Tag: "agents", Role: api.Operator,
				Summary: "Find mistakes in a draft of an agent, without changing anything",
				In:      reflect.TypeFor[drafted](), Out: reflect.TypeFor[AgentChecked](),
				Errors: []api.Code{api.NoAgent, noDraft, api.InvalidQuestion}, Answer: s.check,
			},
		},
	}
}

func (s *screen) trends(*api.Call) (any, error) { return s.fleet.Trends(), nil }

func (s *screen) agents(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	all, err := s.fleet.All(c.Context())
	if err != nil {
		return nil, err
	}
	all = all[sort.Search(len(all), func(i int) bool { return all[i].ID > after }):]
	page := AgentPage{Agents: slices.Concat([]Agent{}, all[:min(limit, len(all))])}
	if len(all) > limit {
		page.Next = c.Cursor(all[limit-1].ID)
	}
	return page, nil
}

func (s *screen) agent(c *api.Call) (any, error) { return s.one(c, c.PathValue("id")) }

func (s *screen) one(c *api.Call, id string) (any, error) {
	a, ok, err := s.fleet.One(c.Context(), id)
	if err == nil && !ok {
		err = noAgent()
	}
	return a, err
}

func (s *screen) addAgent(c *api.Call) (any, error) { return s.put(c, "agent.added", "") }

func (s *screen) putAgent(c *api.Call) (any, error) {
	return s.put(c, "agent.changed", c.PathValue("id"))
}

// put registers the agent in the body, which is of the id in the path if there is one.
func (s *screen) put(c *api.Call, kind, id string) (any, error) {
	doc, err := c.Document()
	if err == nil && c.SentYAML() {
		doc, err = s.fleet.JSON(doc)
	}
	if err != nil {
		return nil, mendable(err)
	}
	var named struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(doc, &named); err != nil {
		return nil, invalidAgent.Refuse("the body is not an agent as a JSON object")
	}
	switch {
	case !api.ValidID(named.ID):
		return nil, invalidAgent.Refuse("id: 1 to 64 letters, digits, -, _ and .")
	case id != "" && id != named.ID:
		return nil, invalidAgent.Refuse("id: is another than that of the path")
	}
	replace, match := kind == "agent.changed", ""
	if replace {
		match = strings.Trim(c.Header.Get("If-Match"), `"`)
		if match == "*" { // any that there is (RFC 9110, section 13.1.1), which replacing asks for anyhow
			match = ""
		}
	}
	err = c.Change(kind, map[string]string{"agent": named.ID}, noAgent(), func(ctx context.Context) (bool, error) {
		return true, mendable(s.fleet.Put(ctx, named.ID, Registration{Doc: doc, Replace: replace, Match: match, By: c.Caller.Name}))
	})
	if err != nil {
		return nil, err
	}
	return s.one(c, named.ID)
}

func (s *screen) removeAgent(c *api.Call) (any, error) {
	id := c.PathValue("id")
	if !api.ValidID(id) {
		return nil, noAgent()
	}
	attrs := map[string]string{"agent": id}
	return api.Changed{ID: id, State: "removed"}, c.Change("agent.removed", attrs, noAgent(), func(ctx context.Context) (bool, error) {
		done, err := s.fleet.Remove(ctx, id)
		return done, mendable(err)
	})
}

func noAgent() error { return api.NoAgent.Refuse("there is no such agent") }

// mendable makes of the errors of Agents what the operator is told.
func mendable(err error) error {
	var invalid AgentInvalid
	switch {
	case errors.As(err, &invalid):
		return invalidAgent.Refuse(invalid.Error())
	case errors.Is(err, ErrAgentsOff):
		return agentsOff.Refuse(err.Error())
	case errors.Is(err, ErrAgentsFull):
		return agentsFull.Refuse(err.Error())
	case errors.Is(err, ErrAgentOther):
		return agentOther.Refuse(err.Error())
	case errors.Is(err, ErrAgentTaken):
		return agentExists.Refuse(err.Error())
	case errors.Is(err, ErrAgentInFile):
		return agentInFile.Refuse(err.Error())
	}
	return err
}
