package policy

import (
	"errors"
	"fmt"
	"strings"
)

// Reading says in words how Resolve settles the skill of a call, or why it cannot. It
// is for people, as Trace is.
func (s *Set) Reading(src SkillSource) string {
	skill, agentwide, err := s.Resolve(src)
	var denied *Denied
	switch {
	case errors.As(err, &denied):
		return denied.Reason
	case skill != "":
		return src.said(skill)
	case src.Method != nil && wide(src.Method):
		return "the method is about no skill: an allow rule about any skill is enough"
	case len(src.All) == 0:
		return "the agent has no skills: only rules without a skills condition are asked"
	case agentwide:
		return "the call does not say: only rules without a skills condition are asked (policy.skills.undeclared: agent)"
	}
	word, option := "each", "require-all"
	if s.undeclared == requireAny {
		word, option = "any", "require-any"
	}
	return fmt.Sprintf("the call does not say: %s of %s must be allowed (policy.skills.undeclared: %s)",
		word, strings.Join(src.All, ", "), option)
}

// said tells who named the skill, the most trusted first.
func (src SkillSource) said(skill string) string {
	switch skill {
	case src.Path:
		return "named by the path"
	case src.Task:
		return "recorded for the task"
	case src.Extension:
		return "the registry says that the method needs it"
	case src.Declared:
		return "named by metadata"
	}
	if entry := src.matchedBy(skill); entry != "" {
		return "found by " + entry
	}
	return "the only skill of the agent"
}
