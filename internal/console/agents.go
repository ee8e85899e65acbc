package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Agents are the fleet, of which those that are in no file can be registered here. The
// errors of Put and Remove that are the operator's to mend are those of this file.
type Agents interface {
	// All has every agent there is or should be, by the bytes of their ids.
	All(ctx context.Context) ([]Agent, error)
	// One is one of them, with what was registered; false where there is none of that id.
	One(ctx context.Context, id string) (Agent, bool, error)
	// Put registers an agent, in the place of one that was registered if replace is set.
	// What it cannot serve it does not take.
	Put(ctx context.Context, id string, doc []byte, replace bool) error
	// Remove forgets one that was registered; false where there is none of that id.
	Remove(ctx context.Context, id string) (bool, error)
	// Trends are how many calls agents had lately.
	Trends() Trends
}

// Errors of Agents.
var (
	ErrAgentsOff   = errors.New("agents cannot be registered: fleet.api is false")
	ErrAgentsFull  = errors.New("there are as many agents as may come from elsewhere than files (fleet.limit)")
	ErrAgentTaken  = errors.New("there is an agent of this id")
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
	Served     bool      `json:"served"` // calls are taken for it
	State      string    `json:"state,omitzero" doc:"whether calls reach it, in the word that the metric agent_state and the log have for it; absent where it is not served"`
	Failure    string    `json:"failure,omitzero"` // why it is not served, or not serving: the state's word, and more

	// Those that would get no call first, then those that take longest, 32 at most; none of an
	// agent whose calls go wherever its card's URL leads.
	Instances []Instance `json:"instances,omitzero"`

	// What its card says that is in force; nothing without one.
	Version    string      `json:"version,omitzero"` // the agent's own
	Interfaces []Interface `json:"interfaces,omitzero"`
	Skills     []string    `json:"skills,omitzero"` // their ids

	// Agent is what was registered, without secrets: they are never shown again.
	Agent jsontext.Value `json:"agent,omitzero"`
}

// Instance is one place where an agent answers.
type Instance struct {
	Address   string  `json:"address"`
	Healthy   bool    `json:"healthy" doc:"it would get the next call"`
	Why       string  `json:"why,omitzero" doc:"why it would not"`
	Latency   float64 `json:"latency,omitzero" doc:"seconds until the head of an answer, smoothed; absent where none has come yet"`
	Calls     int     `json:"calls" doc:"in flight, streams included"`
	Ejections int     `json:"ejections" doc:"since it was found"`
}

// Interface is one way in which an agent is spoken to.
type Interface struct {
	Version string `json:"version"` // of A2A
	Binding string `json:"binding"`
}

// Trends is the answer of GET /api/v1/trends.
type Trends struct {
	Until  time.Time            `json:"until"`
	Every  float64              `json:"every" doc:"seconds of a step"`
	Agents map[string][]float64 `json:"agents" doc:"calls that ended, step by step, the latest last; agents without any are not there. What nobody looked at is spread evenly"`
}

// AgentPage is the answer of GET /api/v1/agents.
type AgentPage struct {
	Agents []Agent `json:"agents"`
	Next   string  `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// agentErrors are what can be wrong with an agent that is to be registered.
var agentErrors = []string{codeInvalidAgent, codeAgentsOff, codeAgentsFull, codeAgentExists, codeAgentInFile, codeNoAgent}

// agentOperations are those about agents.
var agentOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/agents", id: "list-agents", tag: "agents", role: Viewer,
		summary: "All agents there are or should be", params: pages(), out: reflect.TypeFor[AgentPage](), answer: (*Console).agents,
	},
	{
		method: http.MethodGet, path: "/api/v1/trends", id: "trends", tag: "gateway", role: Viewer,
		summary: "How many calls agents had lately, at this gateway", out: reflect.TypeFor[Trends](), answer: (*Console).trends,
	},
	{
		method: http.MethodPost, path: "/api/v1/agents", id: "add-agent", tag: "agents", role: Admin, writes: true,
		summary: "Register an agent, as an entry of agents: in the configuration", in: reflect.TypeFor[jsontext.Value](),
		out: reflect.TypeFor[Agent](), errors: agentErrors, answer: (*Console).addAgent,
	},
	{
		method: http.MethodGet, path: "/api/v1/agents/{id}", id: "get-agent", tag: "agents", role: Viewer,
		summary: "One agent, with what was registered but for secrets", out: reflect.TypeFor[Agent](),
		errors: []string{codeNoAgent}, answer: (*Console).agent,
	},
	{
		method: http.MethodPut, path: "/api/v1/agents/{id}", id: "put-agent", tag: "agents", role: Admin, writes: true,
		summary: "Register an agent, in the place of one that was registered", in: reflect.TypeFor[jsontext.Value](),
		out: reflect.TypeFor[Agent](), errors: agentErrors, answer: (*Console).putAgent,
	},
	{
		method: http.MethodDelete, path: "/api/v1/agents/{id}", id: "remove-agent", tag: "agents", role: Admin, writes: true,
		summary: "Forget an agent that was registered", out: reflect.TypeFor[Changed](),
		errors: []string{codeNoAgent, codeAgentsOff, codeAgentInFile}, answer: (*Console).removeAgent,
	},
}

func (s *Console) trends(*call) (any, error) { return s.Agents.Trends(), nil }

func (s *Console) agents(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	all, err := s.Agents.All(c.Context())
	if err != nil {
		return nil, err
	}
	all = all[sort.Search(len(all), func(i int) bool { return all[i].ID > after }):]
	page := AgentPage{Agents: slices.Concat([]Agent{}, all[:min(limit, len(all))])}
	if len(all) > limit {
		page.Next = cursor(all[limit-1].ID)
	}
	return page, nil
}

func (s *Console) agent(c *call) (any, error) { return s.one(c, c.PathValue("id")) }

func (s *Console) one(c *call, id string) (any, error) {
	a, ok, err := s.Agents.One(c.Context(), id)
	if err == nil && !ok {
		err = noAgent()
	}
	return a, err
}

func (s *Console) addAgent(c *call) (any, error) { return s.put(c, "agent.added", "") }

func (s *Console) putAgent(c *call) (any, error) {
	return s.put(c, "agent.changed", c.PathValue("id"))
}

// put registers the agent in the body, which is of the id in the path if there is one.
func (s *Console) put(c *call, kind, id string) (any, error) {
	doc, err := s.body(c)
	if err != nil {
		return nil, err
	}
	var named struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(doc, &named); err != nil {
		return nil, refuse(codeInvalidAgent, "the body is not an agent as a JSON object")
	}
	switch {
	case !agentID.MatchString(named.ID):
		return nil, refuse(codeInvalidAgent, "id: 1 to 64 letters, digits, -, _ and .")
	case id != "" && id != named.ID:
		return nil, refuse(codeInvalidAgent, "id: is another than that of the path")
	}
	err = s.change(c, kind, map[string]string{"agent": named.ID}, noAgent(), func(ctx context.Context) (bool, error) {
		return true, mendable(s.Agents.Put(ctx, named.ID, doc, kind == "agent.changed"))
	})
	if err != nil {
		return nil, err
	}
	return s.one(c, named.ID)
}

// agentID keeps what is no id out of records. What makes one is the gateway's to say.
var agentID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (s *Console) removeAgent(c *call) (any, error) {
	id := c.PathValue("id")
	if !agentID.MatchString(id) {
		return nil, noAgent()
	}
	attrs := map[string]string{"agent": id}
	return Changed{id, "removed"}, s.change(c, "agent.removed", attrs, noAgent(), func(ctx context.Context) (bool, error) {
		done, err := s.Agents.Remove(ctx, id)
		return done, mendable(err)
	})
}

func noAgent() error { return refuse(codeNoAgent, "there is no such agent") }

// mendable makes of the errors of Agents what the operator is told.
func mendable(err error) error {
	var invalid AgentInvalid
	switch {
	case errors.As(err, &invalid):
		return refuse(codeInvalidAgent, invalid.Error())
	case errors.Is(err, ErrAgentsOff):
		return refuse(codeAgentsOff, err.Error())
	case errors.Is(err, ErrAgentsFull):
		return refuse(codeAgentsFull, err.Error())
	case errors.Is(err, ErrAgentTaken):
		return refuse(codeAgentExists, err.Error())
	case errors.Is(err, ErrAgentInFile):
		return refuse(codeAgentInFile, err.Error())
	}
	return err
}

// body reads a JSON document of at most admin.body.
func (s *Console) body(c *call) ([]byte, error) {
	if types := c.Header["Content-Type"]; len(types) != 1 || !wire.MediaType(types[0]) {
		return nil, refuse(codeContentType, "send Content-Type: application/json")
	}
	most := int64(s.config.Body)
	doc, err := io.ReadAll(io.LimitReader(c.Body, most+1))
	switch {
	case err != nil:
		return nil, refuse(codeMalformed, "the body could not be read")
	case int64(len(doc)) > most:
		// Whoever still sends when the connection is closed may never read why.
		_, _ = io.CopyN(io.Discard, c.Body, most)
		return nil, refuse(codeTooLarge, fmt.Sprintf("the body is longer than %d bytes (admin.body)", most))
	}
	return doc, nil
}
