package fleet

import (
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// AgentDraft is the answer of GET /api/v1/agents/{id}/draft. No secret is in it: a marker stands in the
// place of each, as <kept: credentials[0].value>, which a PUT that has it in the same place
// keeps the secret by.
type AgentDraft struct {
	Text       string `json:"text" doc:"YAML in the form of an entry of agents: in the configuration; references to files and the environment stay unexpanded"`
	Registered bool   `json:"registered" doc:"PUT /api/v1/agents/{id} can apply the draft; if false, the agent is in a file, which the API does not write"`
	Place      string `json:"place,omitzero" doc:"file and line of the agent's entry"`
	Edition    string `json:"edition,omitzero" doc:"edition of the entry, for If-Match"`
}

// AgentChecked is the answer of POST /api/v1/agents/{id}/check.
type AgentChecked struct {
	Mistakes []verdict.Mistake `json:"mistakes" doc:"mistakes that would keep the gateway from serving the agent"`
	Warnings []string          `json:"warnings" doc:"what the gateway could not check, and what is probably unintended"`
}

// DraftUnread says why the text of an agent of a file cannot be read now. Without an error there is none.
type DraftUnread struct{ Err error }

// Error implements error.
func (e DraftUnread) Error() string {
	if e.Err == nil {
		return "there is no text of this agent: it is made of annotations of a service; change them there"
	}
	return "the file of the agent cannot be shown: " + e.Err.Error()
}

// Unwrap is for errors.Is.
func (e DraftUnread) Unwrap() error { return e.Err }

// Refusal is what the operator is told of it.
func (e DraftUnread) Refusal() *api.Refusal { return &api.Refusal{Code: noDraft, Message: e.Error()} }

// drafted is the agent that somebody writes.
type drafted struct {
	Agent string `json:"agent" doc:"YAML in the form of an entry of agents: in the configuration"`
}

// mostMistakes is how many mistakes and warnings of a draft are told.
const mostMistakes = 50

func (s *screen) draft(c *api.Call) (any, error) {
	d, ok, err := s.fleet.Draft(c.Context(), c.PathValue("id"))
	if err == nil && !ok {
		err = noAgent()
	}
	return d, mendable(err)
}

// check reads a draft as Put would. What is wrong with it is the answer and no error: while
// somebody writes, most drafts are wrong for a moment.
func (s *screen) check(c *api.Call) (any, error) {
	var d drafted
	if err := c.Decode(&d, api.InvalidQuestion); err != nil {
		return nil, err
	}
	answer, ok, err := s.fleet.Check(c.Context(), c.PathValue("id"), []byte(d.Agent))
	if err == nil && !ok {
		err = noAgent()
	}
	if err != nil {
		return nil, mendable(err)
	}
	answer.Mistakes = append([]verdict.Mistake{}, answer.Mistakes[:min(len(answer.Mistakes), mostMistakes)]...)
	answer.Warnings = append([]string{}, answer.Warnings[:min(len(answer.Warnings), mostMistakes)]...)
	return answer, nil
}
