package policy

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestEverywhere: who may read everywhere may read a task of every skill, and who may not
// is asked for each.
func TestEverywhere(t *testing.T) {
	bob := &authn.Principal{Subject: "bob"}
	all := Rule{Name: "all", Effect: "allow"}
	only := func(skill string) Rule {
		return Rule{Name: "only-" + skill, Effect: "allow", Skills: []string{skill}}
	}
	for name, tt := range map[string]struct {
		config Config
		want   bool
		reads  map[string]bool
	}{
		"a rule for all":      {Config{Rules: []Rule{all}}, true, map[string]bool{"refund": true, "": true}},
		"the default":         {Config{Default: "allow"}, true, map[string]bool{"refund": true, "": true}},
		"a skill":             {Config{Rules: []Rule{only("refund")}}, false, map[string]bool{"refund": true, "summarize": false, "": false}},
		"a pattern":           {Config{Rules: []Rule{only("*")}}, true, map[string]bool{"refund": true, "": true}},
		"no rule":             {Config{}, false, map[string]bool{"refund": false}},
		"a denied skill":      {Config{Rules: []Rule{all, {Name: "no", Effect: "deny", Skills: []string{"refund"}}}}, false, map[string]bool{"refund": false, "summarize": true}},
		"a denied other call": {Config{Rules: []Rule{all, {Name: "no", Effect: "deny", Methods: []string{"CancelTask"}}}}, true, map[string]bool{"refund": true}},
		"a shadow":            {Config{Rules: []Rule{all, {Name: "no", Effect: "deny", Mode: "shadow", Skills: []string{"refund"}}}}, true, map[string]bool{"refund": true}},
		"an expression":       {Config{Rules: []Rule{{Name: "own", Effect: "allow", Expr: `task.skill == "refund"`}}}, false, map[string]bool{"refund": true, "summarize": false}},
		"somebody else's":     {Config{Rules: []Rule{all, {Name: "no", Effect: "deny", Subjects: []string{"eve"}, Skills: []string{"refund"}}}}, true, map[string]bool{"refund": true}},
		"no unknown skills":   {Config{Rules: []Rule{all}, Skills: SkillsConfig{Undeclared: "deny"}}, false, map[string]bool{"refund": true, "": false}},
		"scopes of cards":     {Config{Rules: []Rule{all}, Skills: SkillsConfig{Scopes: "card"}}, false, map[string]bool{"refund": false, "summarize": true}},
	} {
		s, _, err := Compile(tt.config, []string{"billing"})
		if err != nil {
			t.Fatal(name, err)
		}
		read := method(t, wire.GetTask)
		if got := s.Everywhere(bob, "billing", read); got != tt.want {
			t.Errorf("%s: everywhere is %v", name, got)
		}
		for skill, want := range tt.reads {
			q := Request{
				Principal: bob, Agent: "billing", Method: method(t, wire.SendMessage), Skill: skill,
				Skills: []string{"refund", "summarize"}, Task: &Task{ID: "t", Skill: skill},
				SkillScopes: map[string][][]string{"refund": {{"money"}}},
			}
			if err := s.CheckNamed(q, read); (err == nil) != want {
				t.Errorf("%s: a task for %q: %v", name, skill, err)
			}
		}
	}
	if s, _, _ := Compile(Config{Rules: []Rule{all}}, []string{"billing"}); s.Everywhere(bob, "weather", method(t, wire.GetTask)) ||
		s.Everywhere(nil, "billing", method(t, wire.GetTask)) {
		t.Error("what is not there can be read")
	}
}

// TestNamedByWhoOnlySends: without a word on reading, a task may be named where the call
// could be about it; a rule that denies reading it counts.
func TestNamedByWhoOnlySends(t *testing.T) {
	sends := Rule{Name: "sends", Effect: "allow", Methods: []string{"SendMessage"}, Skills: []string{"refund"}}
	deny := Rule{Name: "no", Effect: "deny", Methods: []string{"GetTask"}}
	for _, tt := range []struct {
		rules []Rule
		skill string
		want  bool
	}{
		{[]Rule{sends}, "refund", true},
		{[]Rule{sends}, "summarize", false},
		{[]Rule{sends, deny}, "refund", false},
	} {
		s, _, err := Compile(Config{Rules: tt.rules}, []string{"billing"})
		if err != nil {
			t.Fatal(err)
		}
		q := Request{Principal: &authn.Principal{Subject: "bob"}, Agent: "billing", Method: method(t, wire.SendMessage), Skill: tt.skill}
		if err := s.CheckNamed(q, method(t, wire.GetTask)); (err == nil) != tt.want {
			t.Errorf("%d rules, skill %s: %v", len(tt.rules), tt.skill, err)
		}
	}
}
