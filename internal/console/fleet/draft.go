package fleet

import (
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// AgentDraft is the answer of GET /api/v1/agents/{id}/draft. No secret is in it: a marker stands in the
// place of each, as <kept: credentials[0].value>, which a PUT that has it in the same place
// keeps the secret by.
type AgentDraft struct {
	Text       string `json:"text" doc:"YAML, as an entry of agents: has it; references to files and the environment as they are written"`
	Registered bool   `json:"registered" doc:"it can be applied by PUT /api/v1/agents/{id}; else it is in a file, which is not written here"`
	Place      string `json:"place,omitzero" doc:"the file that it is in, and the line"`
	Edition    string `json:"edition,omitzero" doc:"for If-Match"`
}

// AgentChecked is the answer of POST /api/v1/agents/{id}/check.
type AgentChecked struct {
	Mistakes []verdict.Mistake `json:"mistakes" doc:"for which the agent could not be served so"`
	Warnings []string          `json:"warnings" doc:"what could not be checked, and what is hardly meant"`
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
	Agent string `json:"agent" doc:"YAML, as an entry of agents: has it"`
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
	doc, err := c.Document()
	if err != nil {
		return nil, err
	}
	var d drafted
	if err := json.Unmarshal(doc, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, api.InvalidQuestion.Refuse("the body is no draft: " + err.Error())
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
