package pdp

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// patterns is a condition as rules have it: any of the strings, in which a * stands for
// any run of bytes, also none. Nil is no condition.
type patterns []string

// match reports whether any pattern fits. The empty string, which no pattern can name,
// fits only where there is no condition or nothing but stars.
func (p patterns) match(s string) bool { return pattern.Any(p, s) }

// concerns says whether the authorizer is asked about a call, and about which of its
// skills: none where the call is about the agent as a whole. A call whose skill is not
// known concerns it if it may be for any that it is asked about.
func (a *authorizer) concerns(q *Question) (skills []string, ok bool) {
	if !a.agents.match(q.Agent) || a.methods != nil && !slices.Contains(a.methods, q.Method) {
		return nil, false
	}
	if q.Skill != "" {
		return []string{q.Skill}, a.skills.match(q.Skill)
	}
	for _, skill := range q.Skills {
		if a.skills.match(skill) {
			skills = append(skills, skill)
		}
	}
	return skills, len(skills) > 0 || len(q.Skills) == 0 && a.skills.match("")
}
