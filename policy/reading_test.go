package policy_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

func TestReading(t *testing.T) {
	t.Parallel()
	list, _ := wire.ByName(wire.V10, "ListTasks")
	two := []string{"summarize", "refund"}
	for _, tt := range []struct {
		undeclared string
		src        policy.SkillSource
		want       string
	}{
		{"", policy.SkillSource{Path: "refund", Declared: "refund", All: two}, "named by the path"},
		{"", policy.SkillSource{Task: "gone", All: two}, "recorded for the task"},
		{"", policy.SkillSource{Extension: "search", All: two}, "the registry says that the method needs it"},
		{"", policy.SkillSource{Declared: "refund", All: two}, "named by metadata"},
		{"", policy.SkillSource{All: two[:1]}, "the only skill of the agent"},
		{"", policy.SkillSource{All: two, Method: list}, "the method is about no skill: an allow rule about any skill is enough"},
		{
			"", policy.SkillSource{All: two},
			"the call does not say: each of summarize, refund must be allowed (policy.skills.undeclared: require-all)",
		},
		{
			"agent", policy.SkillSource{All: two},
			"the call does not say: only rules without a skills condition are asked (policy.skills.undeclared: agent)",
		},
		{"", policy.SkillSource{}, "the agent has no skills: only rules without a skills condition are asked"},
		{"deny", policy.SkillSource{All: two}, "the call does not say which skill it is for"},
		{"", policy.SkillSource{Path: "shred", All: two}, `the agent has no skill "shred"`},
		{"", policy.SkillSource{Path: "refund", Task: "summarize", All: two}, `the call is for skill "refund" and for skill "summarize"`},
	} {
		s, _, err := policy.Compile(policy.Config{Skills: policy.SkillsConfig{Undeclared: tt.undeclared}}, []string{"billing"})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Reading(tt.src); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.src, got, tt.want)
		}
	}
}
