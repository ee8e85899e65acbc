package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Each case is a call by alice that does not say which of three skills it is for.
func TestRequireAny(t *testing.T) {
	t.Parallel()
	all := []string{"invoices", "refunds", "audit"}
	for name, tc := range map[string]struct {
		rules  []Rule
		change func(*Request)
		want   verdict
		skills []string
	}{
		"all":        {rules: []Rule{allow("r")}, want: verdict{Allowed: true, Rule: "r"}, skills: all},
		"one":        {rules: []Rule{allow("r", skills("audit"))}, want: verdict{Allowed: true, Rule: "r"}, skills: all[2:]},
		"in order":   {rules: []Rule{allow("a", skills("audit")), allow("i", skills("invoices"))}, want: verdict{Allowed: true, Rule: "i"}, skills: []string{"invoices", "audit"}},
		"but one":    {rules: []Rule{allow("r"), deny("no", skills("refunds"))}, want: verdict{Allowed: true, Rule: "r"}, skills: []string{"invoices", "audit"}},
		"none":       {rules: []Rule{allow("r", skills("other"))}, want: verdict{Rule: "default", Visible: true}},
		"denied":     {rules: []Rule{allow("r"), deny("no", skills("*s", "audit"))}, want: verdict{Rule: "no", Visible: true}},
		"all denied": {rules: []Rule{allow("r"), deny("no")}, want: verdict{Rule: "no"}},
		"the one that is allowed is denied": {
			rules: []Rule{allow("r", skills("audit")), deny("no", skills("audit"))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"said":             {rules: []Rule{allow("r", skills("audit"))}, change: func(q *Request) { q.Skill = "refunds" }, want: verdict{Rule: "default", Visible: true}},
		"said and allowed": {rules: []Rule{allow("r", skills("audit"))}, change: func(q *Request) { q.Skill = "audit" }, want: verdict{Allowed: true, Rule: "r"}},
		"no skills":        {rules: []Rule{allow("r", skills("audit"))}, change: func(q *Request) { q.Skills = nil }, want: verdict{Rule: "default", Visible: true}},
		"about none": {
			rules: []Rule{allow("r", skills("other"))}, change: func(q *Request) { q.Method = method(t, wire.ListTasks) },
			want: verdict{Allowed: true, Rule: "r"},
		},
		"the skill that takes the fewest scopes": {
			rules: []Rule{allow("seen", calls("GetTask")), allow("a", skills("invoices"), scopes("x", "y")), allow("b", skills("audit"), scopes("z")), allow("c", skills("refunds"), scopes("w"))},
			want:  verdict{Rule: "default", Visible: true, Scopes: []string{"w"}},
		},
		"scopes of a skill that is denied": {
			rules: []Rule{allow("seen", calls("GetTask")), deny("no", skills("audit")), allow("a", skills("invoices"), scopes("x", "y")), allow("b", skills("audit"), scopes("z"))},
			want:  verdict{Rule: "default", Visible: true, Scopes: []string{"x", "y"}},
		},
		"consent to what is allowed": {
			rules: []Rule{allow("a", skills("audit"), agreed(Consent{Scope: "openid"})), deny("no", skills("invoices")), allow("i", skills("invoices"), agreed(Consent{Claim: "ok"}))},
			want:  verdict{Allowed: true, Rule: "a", Consent: []string{"scope openid"}}, skills: all[2:],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := signedIn(t)
			if q.Skill, q.Skills = "", all; tc.change != nil {
				tc.change(&q)
			}
			s := compile(t, Config{Rules: tc.rules, Skills: SkillsConfig{Undeclared: "require-any"}})
			if diff := cmp.Diff(tc.want, judge(t, s, q), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if d, _ := s.Check(q); !cmp.Equal(d.Skills, tc.skills) {
				t.Errorf("Decision.Skills: %q, want %q", d.Skills, tc.skills)
			}
		})
	}
}

// What rules say about extensions of the skills that are not allowed is not said.
func TestRequireAnyExtensions(t *testing.T) {
	t.Parallel()
	q := signedIn(t)
	q.Skill = ""
	e := RuleExtensions{Require: []string{"urn:x"}}
	s := compile(t, Config{Skills: SkillsConfig{Undeclared: "require-any"}, Rules: []Rule{
		allow("r", skills("invoices")), says("yes", e, skills("in*")), says("no", e, skills("refunds")),
	}})
	d, err := s.Check(q)
	if err != nil || len(d.Extensions) != 1 || d.Extensions[0].Rule != "yes" {
		t.Errorf("%+v, %v", d.Extensions, err)
	}
	for _, step := range s.Trace(q) {
		if want := map[string][]string{"r": {"invoices"}, "yes": {"invoices"}, "no": {"refunds"}}[step.Rule]; !cmp.Equal(step.Skills, want) {
			t.Errorf("Trace: %s is about %q, want %q", step.Rule, step.Skills, want)
		}
	}
	if text := s.Reading(SkillSource{All: q.Skills}); !strings.Contains(text, "any of invoices, refunds must be allowed (policy.skills.undeclared: require-any)") {
		t.Error(text)
	}
}

// Each case is a call by alice, who has the scopes openid and billing.read.
func TestSkillScopes(t *testing.T) {
	t.Parallel()
	asks := func(alternatives ...[]string) map[string][][]string {
		return map[string][][]string{"invoices": alternatives}
	}
	for name, tc := range map[string]struct {
		config Config
		scopes map[string][][]string
		change func(*Request)
		want   verdict
	}{
		"nothing asked": {want: verdict{Allowed: true, Rule: "r"}},
		"one held":      {scopes: asks([]string{"openid", "billing.read"}), want: verdict{Allowed: true, Rule: "r"}},
		"any held":      {scopes: asks([]string{"x"}, []string{"openid"}), want: verdict{Allowed: true, Rule: "r"}},
		"none of it":    {scopes: asks([]string{}), want: verdict{Allowed: true, Rule: "r"}},
		"another skill": {scopes: map[string][][]string{"refunds": {{"x"}}}, want: verdict{Allowed: true, Rule: "r"}},
		"missing":       {scopes: asks([]string{"x"}), want: verdict{Rule: "skill-scopes", Scopes: []string{"x"}, Visible: true}},
		"the nearest":   {scopes: asks([]string{"x", "y"}, []string{"z", "openid"}, []string{"w"}), want: verdict{Rule: "skill-scopes", Scopes: []string{"z"}, Visible: true}},
		"with a rule's": {
			config: Config{Rules: []Rule{allow("seen", calls("GetTask")), allow("r", scopes("a", "x"))}}, scopes: asks([]string{"x", "b"}),
			want: verdict{Rule: "default", Scopes: []string{"a", "x", "b"}, Visible: true},
		},
		"hopeless": {config: Config{Rules: []Rule{allow("seen", calls("GetTask"))}}, scopes: asks([]string{"x"}), want: verdict{Rule: "default", Visible: true}},
		"denied":   {config: Config{Rules: []Rule{allow("r"), deny("no", skills("in*"))}}, scopes: asks([]string{"x"}), want: verdict{Rule: "no", Visible: true}},
		"by default": {config: Config{Default: "allow", Rules: []Rule{deny("no", skills("x"))}}, scopes: asks([]string{"x"}),
			want: verdict{Rule: "skill-scopes", Scopes: []string{"x"}, Visible: true}},
		"every skill": {
			scopes: map[string][][]string{"invoices": {{"x"}}, "refunds": {{"y", "x"}}}, change: func(q *Request) { q.Skill = "" },
			want: verdict{Rule: "skill-scopes", Scopes: []string{"x", "y"}, Visible: true},
		},
		"a method about no skill": {
			scopes: asks([]string{"x"}), change: func(q *Request) { q.Skill, q.Method = "", method(t, wire.ListTasks) },
			want: verdict{Allowed: true, Rule: "r"},
		},
		"agentwide": {scopes: asks([]string{"x"}), change: func(q *Request) { q.Skill, q.Agentwide = "", true }, want: verdict{Allowed: true, Rule: "r"}},
		"any skill": {
			config: Config{Skills: SkillsConfig{Undeclared: "require-any"}}, scopes: asks([]string{"x"}),
			change: func(q *Request) { q.Skill = "" }, want: verdict{Allowed: true, Rule: "r"},
		},
		"no skill of any": {
			config: Config{Skills: SkillsConfig{Undeclared: "require-any"}}, scopes: map[string][][]string{"invoices": {{"x", "y"}}, "refunds": {{"z"}}},
			change: func(q *Request) { q.Skill = "" }, want: verdict{Rule: "skill-scopes", Scopes: []string{"z"}, Visible: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.config.Skills.Scopes = "card"; tc.config.Rules == nil {
				tc.config.Rules = []Rule{allow("r")}
			}
			s, q := compile(t, tc.config), signedIn(t)
			if q.SkillScopes = tc.scopes; tc.change != nil {
				tc.change(&q)
			}
			if diff := cmp.Diff(tc.want, judge(t, s, q), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			hasStepUp := s.Trace(q)
			last := hasStepUp[len(hasStepUp)-1]
			if lacking := last.Rule == "skill-scopes"; tc.want.Rule == "skill-scopes" && !lacking {
				t.Errorf("Trace ends with %+v", last)
			}
		})
	}
}

func TestSkillScopesHideSkills(t *testing.T) {
	t.Parallel()
	q, asked := signedIn(t), map[string][][]string{"refunds": {{"x"}}, "invoices": {{"openid"}}}
	on := compile(t, Config{Rules: []Rule{allow("r")}, Skills: SkillsConfig{Scopes: "card"}})
	off := compile(t, Config{Rules: []Rule{allow("r")}})
	if got := on.SkillsWith(q.Principal, "billing", q.Skills, asked); !cmp.Equal(got, []string{"invoices"}) {
		t.Errorf("shown %q", got)
	}
	if got := off.SkillsWith(q.Principal, "billing", q.Skills, asked); len(got) != 2 || off.UsesCardScopes() || !on.UsesCardScopes() {
		t.Errorf("scopes are off, and %q is shown", got)
	}
	if q.SkillScopes = asked; judge(t, off, q).Allowed != true {
		t.Error("scopes are off and count")
	}
}
