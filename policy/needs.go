package policy

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// level says how the skills condition of a rule is read for a call.
type level uint8

const (
	// bySkill: the call is for a skill, or for several that must all be allowed. A
	// rule matches if its skills condition holds for that skill.
	bySkill level = iota

	// withoutSkill: the call is for the agent and no skill is known, because the
	// agent has none or `undeclared: agent` says not to ask. A rule matches if it
	// has no skills condition; "this skill only" cannot be said of such a call.
	withoutSkill

	// acrossSkills: the method is about the caller or the agent as a whole, see
	// wide. An allow rule matches whatever its skills condition, another rule only
	// if it has none.
	acrossSkills

	// anySkill: the call is for any of several skills that the caller may use. A rule
	// matches as in bySkill.
	anySkill

	// unsettled: no rule matches, the call is denied.
	unsettled
)

// wide reports whether a method is about no skill in particular: ListTasks and
// GetExtendedAgentCard, and methods of extensions that are about the same things
// and, by the registry, need no skill.
//
// A caller who may use one skill of an agent must be able to list its own tasks
// and to read the card that names the skill: so any allow rule for the method is
// enough, whichever skills it is about. That gives nothing away, because both
// answers are cut down to the caller: the list by ownership and by the rules for
// GetTask, task by task, the card by Skills.
// For the same reason a deny rule about some skills does not end them: it already
// empties what it is about. A deny rule about all skills means the whole agent,
// and does.
func wide(m *wire.Method) bool {
	return m.Subject == wire.OfCaller || m.Subject == wire.OfAgent
}

// met reports whether the skills condition of r holds.
func (l level) met(r *rule, skill string) bool {
	switch l {
	case bySkill, anySkill:
		return r.target.skills.Match(skill)
	case acrossSkills:
		return r.effect == allows || r.target.skills.All()
	case withoutSkill:
		return r.target.skills.All()
	}
	return false
}

// need is what has to be allowed for a call to pass: every skill of all (any of them
// with anySkill), or one when all is empty. The levels that ignore skills have an empty
// one.
type need struct {
	level level
	one   string
	all   []string

	exprs verdicts // what the rules' expressions say of the call
}

// need says what has to be allowed for a call.
func (s *Set) need(q *Request) need {
	n := need{level: s.level(q), one: q.Skill}
	if (n.level == bySkill || n.level == anySkill) && q.Skill == "" {
		n.all, n.exprs.of = q.Skills, q.Skills
	}
	return n
}

// count is how many skills have to be allowed; never 0, so that a need for
// nothing cannot let a call pass.
func (n *need) count() int { return max(len(n.all), 1) }

// skill is the i-th of the skills that have to be allowed; "" where the level ignores them.
func (n *need) skill(i int) string {
	if len(n.all) == 0 {
		return n.one
	}
	return n.all[i]
}

// level says which rules' skills conditions can hold for a call.
func (s *Set) level(q *Request) level {
	switch {
	case q.Skill != "":
		return bySkill
	case wide(q.Method):
		return acrossSkills
	case q.Agentwide, s.undeclared == byAgent:
		return withoutSkill
	case s.undeclared == denyUndeclared:
		return unsettled
	case len(q.Skills) == 0:
		return withoutSkill
	case s.undeclared == requireAny:
		return anySkill
	}
	return bySkill
}

// reached says for which skill a rule matches a call that names none; "" for a call that names one.
func (n *need) reached(r *rule) string {
	for _, skill := range n.all {
		if n.level.met(r, skill) {
			return fmt.Sprintf(" for skill %q; the call names no skill", skill)
		}
	}
	return ""
}

// met reports whether r is about any of the skills needed.
func (n *need) met(r *rule) bool {
	for i := range n.count() {
		if n.level.met(r, n.skill(i)) {
			return true
		}
	}
	return false
}
