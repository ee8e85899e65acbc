package console

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// RulePage is the answer of GET /api/v1/policy/rules.
type RulePage struct {
	Default string           `json:"default" doc:"what becomes of calls that no rule is about"`
	Rules   []jsontext.Value `json:"rules" doc:"as policy.rules lists them, in that order"`
	Next    string           `json:"next,omitzero"` // cursor of the next page; "" at the end
}

// ruleOperations are those about the rules.
var ruleOperations = []operation{{
	method: http.MethodGet, path: "/api/v1/policy/rules", id: "list-rules", tag: "policy", role: Viewer,
	summary: "The rules in force", params: pages(), out: reflect.TypeFor[RulePage](), answer: (*Console).rules,
}}

func (s *Console) rules(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	text, err := s.Running.Config()
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
	page := RulePage{Default: cmp.Or(shown.Policy.Default, "deny"), Rules: slices.Concat([]jsontext.Value{}, rules[:min(limit, len(rules))])}
	if len(rules) > limit {
		page.Next = cursor(ruleName(rules[limit-1]))
	}
	return page, nil
}

// ruleName is what tells a rule from others.
func ruleName(rule jsontext.Value) string {
	var r struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(rule, &r) // it was just written
	return r.Name
}
