package console

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// Policy is what the rules in force say of calls.
type Policy interface {
	// Explain says what would become of a call, which nobody makes. The error is a
	// QuestionInvalid where it is the asker's to mend.
	Explain(ctx context.Context, q *verdict.Question) (*verdict.Explanation, error)
	// Replay puts recorded calls to the rules of a draft, the newest first. The error is a
	// DraftInvalid where those are wrong.
	Replay(ctx context.Context, d *verdict.Draft, b ReplayBounds) (*verdict.Replayed, error)
	// Limits are those of callers, and what becomes of calls while nobody can count them.
	Limits() (list []CallerLimit, onLoss string)
	// Hits are how often rules decided, as metrics count it.
	Hits() Hits
}

// QuestionInvalid says what is wrong with a question, and where.
type QuestionInvalid struct {
	Member string
	Err    error
}

// Error implements error.
func (e QuestionInvalid) Error() string { return e.Member + ": " + e.Err.Error() }

// Hits is the answer of GET /api/v1/policy/hits.
type Hits struct {
	Since time.Time `json:"since" doc:"when this gateway began to count; others count for themselves"`
	Rules []Hit     `json:"rules" doc:"that decided any call, by name"`
}

// Hit is how often a rule decided.
type Hit struct {
	Rule   string `json:"rule" doc:"its name; default, credential and their like where no rule decided, none where something else than the rules did, other for one that is gone"`
	Allow  int64  `json:"allow"`
	Deny   int64  `json:"deny"`
	Error  int64  `json:"error" doc:"calls that it let through and that were refused for something else"`
	Shadow int64  `json:"shadow" doc:"calls that it matches and does not decide: it is in shadow"`
}

// policyOperations are those about what rules say of calls.
var policyOperations = []operation{
	{
		method: http.MethodPost, path: "/api/v1/policy/explain", id: "explain", tag: "policy", role: Viewer,
		summary: "What would become of a call, and why; nobody makes it, and no authorizer is asked",
		in:      reflect.TypeFor[verdict.Question](), out: reflect.TypeFor[verdict.Explanation](),
		errors: []string{codeInvalidQuestion}, answer: (*Console).explain,
	},
	{
		method: http.MethodGet, path: "/api/v1/policy/hits", id: "rule-hits", tag: "policy", role: Viewer,
		summary: "How often rules decided", out: reflect.TypeFor[Hits](), answer: (*Console).hits,
	},
}

func (s *Console) explain(c *call) (any, error) {
	doc, err := s.body(c)
	if err != nil {
		return nil, err
	}
	var q verdict.Question
	if err := json.Unmarshal(doc, &q, json.RejectUnknownMembers(true)); err != nil {
		return nil, refuse(codeInvalidQuestion, "the body is no question: "+err.Error())
	}
	return s.Policy.Explain(c.Context(), &q)
}

func (s *Console) hits(*call) (any, error) { return s.Policy.Hits(), nil }
