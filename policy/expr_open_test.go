package policy

import "testing"

// TestExpressionsOfOpenSkills: a caller who does not say which skill a call is for gets
// around no rule about one.
func TestExpressionsOfOpenSkills(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule   Rule
		skills []string
		want   bool
	}{
		"a deny rule about one of several": {
			Rule{Effect: "deny", Expr: `skill == "refunds"`}, []string{"invoices", "refunds"}, false,
		},
		"a deny rule about all but one": {
			Rule{Effect: "deny", Expr: `skill != "invoices"`}, []string{"invoices", "refunds"}, false,
		},
		"a deny rule about something else": {
			Rule{Effect: "deny", Expr: `agent == "other"`}, []string{"invoices", "refunds"}, true,
		},
		"a deny rule about another than the only one": {
			Rule{Effect: "deny", Expr: `skill == "refunds"`}, []string{"invoices"}, true,
		},
		"a deny rule about the only one": {
			Rule{Effect: "deny", Expr: `skill == "invoices"`}, []string{"invoices"}, false,
		},
	} {
		for _, undeclared := range []string{"require-all", "require-any"} {
			tt.rule.Name = "deny"
			set := compile(t, Config{
				Skills: SkillsConfig{Undeclared: undeclared},
				Rules:  []Rule{tt.rule, {Name: "all", Effect: "allow"}},
			})
			q := signedIn(t)
			q.Skill, q.Skills = "", tt.skills
			if d, err := set.Check(q); (err == nil) != tt.want {
				t.Errorf("%s, %s: %v, faults %q", name, undeclared, err, d.Faults)
			}
		}
	}
}
