package policy

import (
	"errors"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	both := []string{"invoices", "refunds"}
	list := method(t, wire.ListTasks)
	find := &wire.Method{Name: "x/find", Extension: "https://x", Subject: wire.OfCaller}
	for name, tc := range map[string]struct {
		undeclared string
		in         SkillSource
		skill      string
		agentwide  bool
		denied     bool
	}{
		"path":     {in: SkillSource{Path: "refunds", All: both}, skill: "refunds"},
		"task":     {in: SkillSource{Task: "refunds", All: both}, skill: "refunds"},
		"declared": {in: SkillSource{Declared: "refunds", All: both}, skill: "refunds"},
		"all agree": {
			in:    SkillSource{Path: "refunds", Task: "refunds", Declared: "refunds", All: both},
			skill: "refunds",
		},
		"path beside a plain task": {in: SkillSource{Path: "refunds", All: both}, skill: "refunds"},
		"only skill":               {in: SkillSource{All: both[:1]}, skill: "invoices"},
		"unknown":                  {in: SkillSource{All: both}},
		"unknown, no skills":       {in: SkillSource{}, agentwide: true},
		"unknown, agent":           {undeclared: "agent", in: SkillSource{All: both}, agentwide: true},
		"unknown, deny":            {undeclared: "deny", in: SkillSource{All: both}, denied: true},
		"unknown, deny, no skills": {undeclared: "deny", in: SkillSource{}, denied: true},
		"only skill, deny":         {undeclared: "deny", in: SkillSource{All: both[:1]}, skill: "invoices"},
		"declared, deny": {
			undeclared: "deny",
			in:         SkillSource{Declared: "refunds", All: both},
			skill:      "refunds",
		},

		"path of no skill":      {in: SkillSource{Path: "refund", All: both}, denied: true},
		"declared no skill":     {in: SkillSource{Declared: "Refunds", All: both}, denied: true},
		"path without skills":   {in: SkillSource{Path: "refunds"}, denied: true},
		"task's skill is gone":  {in: SkillSource{Task: "gone", All: both}, skill: "gone"},
		"path against task":     {in: SkillSource{Path: "refunds", Task: "invoices", All: both}, denied: true},
		"declared against task": {in: SkillSource{Task: "invoices", Declared: "refunds", All: both}, denied: true},
		"declared against path": {in: SkillSource{Path: "invoices", Declared: "refunds", All: both}, denied: true},

		"extension":              {in: SkillSource{Extension: "refunds", All: both}, skill: "refunds"},
		"extension's own":        {in: SkillSource{Extension: "search", All: both}, skill: "search"},
		"extension, deny":        {undeclared: "deny", in: SkillSource{Extension: "search", All: both}, skill: "search"},
		"extension against task": {in: SkillSource{Task: "refunds", Extension: "search", All: both}, denied: true},
		"extension against path": {in: SkillSource{Path: "refunds", Extension: "search", All: both}, denied: true},
		"declared against extension": {
			in:     SkillSource{Extension: "search", Declared: "refunds", All: both},
			denied: true,
		},
		"find":              {in: SkillSource{Method: find, All: both}, agentwide: true},
		"find with a skill": {in: SkillSource{Method: find, Extension: "search", All: both}, skill: "search"},

		"list":                {in: SkillSource{Method: list, All: both}, agentwide: true},
		"list, deny":          {undeclared: "deny", in: SkillSource{Method: list, All: both}, agentwide: true},
		"list under a path":   {in: SkillSource{Method: list, Path: "refunds", All: both}, skill: "refunds"},
		"list of a one-skill": {in: SkillSource{Method: list, All: both[:1]}, agentwide: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, Config{
				Rules:  []Rule{allow("r", agents("billing"))},
				Skills: SkillsConfig{Undeclared: tc.undeclared},
			})
			tc.in.Principal, tc.in.Agent = alice(), "billing"
			skill, agentwide, err := s.Resolve(tc.in)
			var denied *Denied
			if (err != nil) != tc.denied || err != nil && !errors.As(err, &denied) {
				t.Fatalf("Resolve: %v, want denied %v", err, tc.denied)
			}
			if skill != tc.skill || agentwide != tc.agentwide {
				t.Errorf("Resolve: %q, %v; want %q, %v", skill, agentwide, tc.skill, tc.agentwide)
			}
			if denied != nil && (!denied.Visible || denied.Rule != "undeclared") {
				t.Errorf("Denied %+v, want visible, by undeclared", denied)
			}
			tc.in.Agent = "weather"
			if _, _, err := s.Resolve(tc.in); errors.As(err, &denied) && denied.Visible {
				t.Error("a refusal on an agent that the caller may not see is visible")
			}
		})
	}
}
