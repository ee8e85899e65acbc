package rules

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// Policy is what the rules in force say of calls. internal/operator has it, by the rules
// and limits of the snapshot in force.
type Policy interface {
	// Explain says what would become of a call, which nobody makes. The error is a
	// api.QuestionInvalid where it is the asker's to mend.
	Explain(ctx context.Context, q *verdict.Question) (*verdict.Explanation, error)
	// Replay puts recorded calls to the rules of a draft, the newest first. The error is a
	// DraftInvalid where those are wrong.
	Replay(ctx context.Context, d *verdict.Draft, b ReplayBounds) (*verdict.Replayed, error)
	// Check says what is wrong with the rules of a draft, without any call.
	Check(rules string) (*verdict.Checked, error)
	// TryGuards has the guards in force look at a text or a message that is in no call. The error is an
	// api.QuestionInvalid where it is the asker's to mend.
	TryGuards(ctx context.Context, t *verdict.GuardTrial) (*verdict.GuardTried, error)
	// ReplayGuards has the guards of a draft look at what was captured of recorded calls, the newest first. The
	// error is a DraftInvalid where those are wrong, and ErrReplayBytes where there is too much.
	ReplayGuards(ctx context.Context, d *verdict.GuardDraft, b ReplayBounds) (*verdict.GuardReplay, error)
	// Limits are those of callers, and what becomes of calls while nobody can count them.
	Limits() (list []CallerLimit, onLoss string)
	// Hits are how often rules decided, as metrics count it.
	Hits() Hits
	// RulePlace is where the configuration in force has the rule of a name, as FILE:LINE; "" where it has
	// none.
	RulePlace(name string) string
}

// Hits is the answer of GET /api/v1/policy/hits. Counts are those of the replica that
// answers.
type Hits struct {
	Since time.Time `json:"since" doc:"when this gateway began to count; each replica counts for itself"`
	Rules []Hit     `json:"rules" doc:"rules that decided calls, ordered by name"`
}

// Hit is how often a rule decided.
type Hit struct {
	Rule   string `json:"rule" doc:"name of the rule; default, credential and the like if no rule decided; none if something other than the rules decided; other for a removed rule"`
	Allow  int64  `json:"allow"`
	Deny   int64  `json:"deny"`
	Error  int64  `json:"error" doc:"calls that the rule allowed, but that were refused for another reason"`
	Shadow int64  `json:"shadow" doc:"calls that the rule matches, but does not decide because it is in shadow mode"`
}

// rulePage is the answer of GET /api/v1/policy/rules.
type rulePage struct {
	Default string           `json:"default" doc:"decision for calls that no rule matches"`
	Rules   []jsontext.Value `json:"rules" doc:"rules in the order of policy.rules"`

	Places map[string]string `json:"places" doc:"where the configuration has each of these rules, by its name, as FILE:LINE"`

	Next string `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// Config has the configuration in force.
type Config interface {
	// Config is it as JSON, without secrets.
	Config() (jsontext.Value, error)
}

// screen answers about rules. Rules are read from the configuration as it is shown, so that
// the page has no secret that the configuration has not.
type screen struct {
	policy Policy
	config Config
}

// Screen is that of the rules in force, which it takes from the configuration.
func Screen(policy Policy, config Config) api.Screen {
	s := &screen{policy, config}
	return api.Screen{
		Title: "Policy", Page: "/policy", Link: true,
		Shows: "the rules in force, how many calls each decided, and which are in shadow mode; limits, and the callers that they refused; explanations of calls; recorded calls that a draft of the rules would decide differently",
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/policy/rules", ID: "list-rules", Tag: "policy", Role: api.Viewer,
				Summary: "List the rules in force", Pages: true, Out: reflect.TypeFor[rulePage](), Answer: s.rules,
			},
			{
				Method: http.MethodPost, Path: "/api/v1/policy/explain", ID: "explain", Tag: "policy", Role: api.Viewer,
				Summary: "Show what the gateway would do with a call, and why, without making the call or asking authorizers",
				In:      reflect.TypeFor[verdict.Question](), Out: reflect.TypeFor[verdict.Explanation](),
				Errors: []api.Code{api.InvalidQuestion}, Answer: s.explain,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/policy/hits", ID: "rule-hits", Tag: "policy", Role: api.Viewer,
				Summary: "Count how often each rule decided", Out: reflect.TypeFor[Hits](), Answer: s.hits,
			},
		},
	}
}

// explain answers a question about a call. An authorizer, which is asked over the network
// for real calls, is not asked: it could count or act.
func (s *screen) explain(c *api.Call) (any, error) {
	var q verdict.Question
	if err := c.Decode(&q, api.InvalidQuestion); err != nil {
		return nil, err
	}
	return s.policy.Explain(c.Context(), &q)
}

// hits answers how often each rule decided.
func (s *screen) hits(*api.Call) (any, error) { return s.policy.Hits(), nil }

// rules answers with a page of the rules as the configuration shows them, in the order in
// which they are tried. The cursor is the name of the last rule of the page before; names
// are there once.
func (s *screen) rules(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	text, err := s.config.Config()
	if err != nil {
		return nil, err
	}
	var shown struct {
		Policy struct {
			Default string           `json:"default"`
			Rules   []jsontext.Value `json:"rules"`
		} `json:"policy"`
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		return nil, err
	}
	rules := shown.Policy.Rules
	if after != "" {
		rules = rules[slices.IndexFunc(rules, func(r jsontext.Value) bool { return ruleName(r) == after })+1:] // all anew where it is gone
	}
	// Default is deny where it is not written, as it is when calls are decided.
	page := rulePage{Default: cmp.Or(shown.Policy.Default, "deny"), Rules: slices.Concat([]jsontext.Value{}, rules[:min(limit, len(rules))])}
	page.Places = make(map[string]string, len(page.Rules))
	for _, r := range page.Rules {
		if at := s.policy.RulePlace(ruleName(r)); at != "" {
			page.Places[ruleName(r)] = at
		}
	}
	if len(rules) > limit {
		page.Next = c.Cursor(ruleName(rules[limit-1]))
	}
	return page, nil
}

// ruleName is what tells a rule from others. It is empty where a rule has no name, which
// the configuration does not permit.
func ruleName(rule jsontext.Value) string {
	var r struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(rule, &r) // it was just written
	return r.Name
}
