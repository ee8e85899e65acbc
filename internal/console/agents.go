package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strconv"
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
	Served     bool      `json:"served"`           // calls are taken for it
	Failure    string    `json:"failure,omitzero"` // why it is not served, or why its card is not there

	// Agent is what was registered, without secrets: they are never shown again.
	Agent jsontext.Value `json:"agent,omitzero"`
}

// AgentPage is the answer of GET /api/v1/agents.
type AgentPage struct {
	Agents []Agent `json:"agents"`
	Next   string  `json:"next,omitzero"` // what to ask for as after; "" at the end
}

// agentRoutes are those about agents.
var agentRoutes = []route{
	{http.MethodGet, "/api/v1/agents", false, (*Console).agents},
	{http.MethodPost, "/api/v1/agents", true, (*Console).addAgent},
	{http.MethodGet, "/api/v1/agents/{id}", false, (*Console).agent},
	{http.MethodPut, "/api/v1/agents/{id}", true, (*Console).putAgent},
	{http.MethodDelete, "/api/v1/agents/{id}", true, (*Console).removeAgent},
}

// bodied reports whether a request may have a body.
func bodied(r *http.Request) bool {
	return slices.ContainsFunc(agentRoutes, func(one route) bool {
		_, ok := match(one.path, r.URL.Path)
		return ok && one.method == r.Method && one.method != http.MethodGet && one.method != http.MethodDelete
	})
}

func (s *Console) agents(r *http.Request) (any, error) {
	q, err := query(r, "after", "limit")
	if err != nil {
		return nil, err
	}
	limit := usualPage
	if q.Has("limit") {
		if limit, err = strconv.Atoi(q.Get("limit")); err != nil || limit < 1 || limit > longestPage {
			return nil, parameter("limit must be a number from 1 to 1000")
		}
	}
	all, err := s.Agents.All(r.Context())
	if err != nil {
		return nil, err
	}
	all = all[sort.Search(len(all), func(i int) bool { return all[i].ID > q.Get("after") }):]
	page := AgentPage{Agents: slices.Concat([]Agent{}, all[:min(limit, len(all))])}
	if len(all) > limit {
		page.Next = all[limit-1].ID
	}
	return page, nil
}

func (s *Console) agent(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	return s.one(r, r.PathValue("id"))
}

func (s *Console) one(r *http.Request, id string) (any, error) {
	a, ok, err := s.Agents.One(r.Context(), id)
	if err == nil && !ok {
		err = noAgent()
	}
	return a, err
}

func (s *Console) addAgent(r *http.Request) (any, error) { return s.put(r, "agent.added", "") }

func (s *Console) putAgent(r *http.Request) (any, error) {
	return s.put(r, "agent.changed", r.PathValue("id"))
}

// put registers the agent in the body, which is of the id in the path if there is one.
func (s *Console) put(r *http.Request, kind, id string) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	doc, err := s.body(r)
	if err != nil {
		return nil, err
	}
	var named struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(doc, &named); err != nil {
		return nil, refuse(http.StatusBadRequest, "INVALID_AGENT", "the body is not an agent as a JSON object")
	}
	switch {
	case !agentID.MatchString(named.ID):
		return nil, refuse(http.StatusBadRequest, "INVALID_AGENT", "id: 1 to 64 letters, digits, -, _ and .")
	case id != "" && id != named.ID:
		return nil, refuse(http.StatusBadRequest, "INVALID_AGENT", "id: is another than that of the path")
	}
	err = s.change(r, kind, map[string]string{"agent": named.ID}, noAgent(), func(ctx context.Context) (bool, error) {
		return true, told(s.Agents.Put(ctx, named.ID, doc, kind == "agent.changed"))
	})
	if err != nil {
		return nil, err
	}
	return s.one(r, named.ID)
}

// agentID keeps what is no id out of records. What makes one is the gateway's to say.
var agentID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (s *Console) removeAgent(r *http.Request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	if !agentID.MatchString(id) {
		return nil, noAgent()
	}
	attrs := map[string]string{"agent": id}
	return changed{id, "removed"}, s.change(r, "agent.removed", attrs, noAgent(), func(ctx context.Context) (bool, error) {
		done, err := s.Agents.Remove(ctx, id)
		return done, told(err)
	})
}

func noAgent() error { return refuse(http.StatusNotFound, "NO_SUCH_AGENT", "there is no such agent") }

// told makes of the errors of Agents what the operator is told.
func told(err error) error {
	var invalid AgentInvalid
	switch {
	case errors.As(err, &invalid):
		return refuse(http.StatusBadRequest, "INVALID_AGENT", invalid.Error())
	case errors.Is(err, ErrAgentsOff):
		return refuse(http.StatusForbidden, "AGENTS_OFF", err.Error())
	case errors.Is(err, ErrAgentsFull):
		return refuse(http.StatusConflict, "AGENTS_FULL", err.Error())
	case errors.Is(err, ErrAgentTaken):
		return refuse(http.StatusConflict, "AGENT_EXISTS", err.Error())
	case errors.Is(err, ErrAgentInFile):
		return refuse(http.StatusConflict, "AGENT_IN_FILE", err.Error())
	}
	return err
}

// body reads a JSON document of at most admin.body.
func (s *Console) body(r *http.Request) ([]byte, error) {
	if types := r.Header["Content-Type"]; len(types) != 1 || !wire.MediaType(types[0]) {
		return nil, refuse(http.StatusUnsupportedMediaType, "CONTENT_TYPE", "send Content-Type: application/json")
	}
	most := int64(s.config.Body)
	doc, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	switch {
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "MALFORMED", "the body could not be read")
	case int64(len(doc)) > most:
		return nil, refuse(http.StatusRequestEntityTooLarge, "TOO_LARGE", fmt.Sprintf("the body is longer than %d bytes (admin.body)", most))
	}
	return doc, nil
}
