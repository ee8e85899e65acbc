package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// onAgents is the condition on which agent is called. Rules are indexed by it (index.go).
var onAgents = condition{
	key: "agents", about: ofTarget, holds: "the agent is one of them", patterns: "yes",
	compile: func(c *compiler, r *rule) []error {
		list := r.source.Agents
		r.target.agents = pattern.Compile(list)
		return append(checkList("agents", list, false, "rule"), c.ids.check(list)...)
	},
	has: func(r *rule) bool { return !r.target.agents.All() },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(r.target.agents.Match(q.Agent), "agents")
	},
	covers: func(r, other *rule) bool { return r.target.agents.Covers(other.source.Agents) },
	dead: func(s *Set, r *rule) string {
		if slices.ContainsFunc(r.source.Agents, s.ids.named) {
			return ""
		}
		return "no configured agent has such an id, so the rule can never match"
	},
}

// check returns the agents that are named exactly and do not exist.
func (ids agentIDs) check(list []string) []error {
	var problems []error
	for i, id := range list {
		if id == "" || strings.Contains(id, "*") {
			continue
		}
		// A misspelt id would make an allow rule useless, and a deny rule harmless.
		if _, ok := slices.BinarySearch(ids, id); !ok {
			problems = append(problems, keypath.Point(fmt.Errorf("agent %q is not configured%s", id, spelling.Hint(id, ids)), "agents", i))
		}
	}
	return problems
}

// onMethods is the condition on the operation.
var onMethods = condition{
	key: "methods", about: ofTarget,
	holds: "the operation is one of them, under any name that it has had; methods of extensions by their own",
	compile: func(c *compiler, r *rule) []error {
		list := r.source.Methods
		set, unknown := methodsOf(list, c.methods)
		if r.target.methods = set; r.effect == approves { // what has no effect needs nobody's consent
			r.target.methods &= c.ops.sending()
			if list != nil && r.target.methods != set {
				unknown = append(unknown, keypath.Point(errors.New("people agree to messages alone: to SendMessage and SendStreamingMessage"), "methods"))
			}
		}
		return append(checkList("methods", list, false, "rule"), unknown...)
	},
	// A list of all methods is a condition all the same: it leaves out those of extensions that
	// the set was not compiled with.
	has: func(r *rule) bool { return r.target.methods != allMethods },
	traced: func(s *Set, r *rule, q *Request, _ *need) string {
		return unless(r.target.methods&s.ops.bit(q.Method) != 0, "methods")
	},
	covers: func(r, other *rule) bool { return other.target.methods&^r.target.methods == 0 },
}

// methodsOf looks method names up and describes those that nobody knows.
func methodsOf(list []string, names map[string]methods) (set methods, problems []error) {
	if list == nil {
		return allMethods, nil
	}
	for i, name := range list {
		bits, ok := names[name]
		switch {
		case ok:
			set |= bits
		case name == "*":
			problems = append(problems, keypath.Point(errors.New(`methods has no "*"; leave methods out to mean every method`), "methods", i))
		case name != "":
			problems = append(problems, keypath.Point(fmt.Errorf("method %q is not an A2A method%s", name, spelling.Hint(name, slices.Collect(maps.Keys(names)))), "methods", i))
		}
	}
	return set, problems
}

// onSkills is the condition on what the call is for. How it is read for a call whose skill is
// not known is for level to say.
var onSkills = condition{
	key: "skills", about: ofTarget, holds: "the skill is one of them", patterns: "yes",
	compile: func(_ *compiler, r *rule) []error {
		r.target.skills = pattern.Compile(r.source.Skills)
		return checkList("skills", r.source.Skills, false, "rule")
	},
	has: func(r *rule) bool { return !r.target.skills.All() },
	// While a call is decided, need asks: the same rules are read for one skill and for many.
	traced: func(_ *Set, r *rule, _ *Request, n *need) string { return unless(n.met(r), "skills") },
	covers: func(r, other *rule) bool { return r.target.skills.Covers(other.source.Skills) },
	stops: func(ops operations, _, other *rule) bool {
		// See acrossSkills: an allow rule about some skills holds there, a deny rule does not.
		return other.effect != allows || other.target.methods&(ops.mayBeWide()|otherMethods) == 0
	},
	lint: func(s *Set, r *rule, k Known) []warning { return r.lintSkills(s.ids, k.Skills) },
	asks: func(src *Rule) Facts { return Facts{Skill: src.Skills != nil} },
}

// SkillsNamed are the skills that rules name which are about an agent, without patterns, in the order of the
// alphabet: what is known of its skills without its card.
func (s *Set) SkillsNamed(agent string) []string {
	named := map[string]bool{}
	for _, r := range s.rules {
		if !r.target.agents.Match(agent) {
			continue
		}
		for _, skill := range r.source.Skills {
			if !strings.Contains(skill, "*") {
				named[skill] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// lintSkills reports the skills that none of the rule's agents has. A rule with
// an agent whose skills are not known yet is left alone.
func (r *rule) lintSkills(ids agentIDs, known map[string][]string) []warning {
	if r.target.skills.All() {
		return nil
	}
	var list []warning
	for _, skill := range ids.lacking(r.places(), r.source.Skills, known) {
		text := fmt.Sprintf("none of its agents has a skill %q", skill)
		list = append(list, warning{r.name, text + spelling.Hint(skill, slices.Concat(slices.Collect(maps.Values(known))...))})
	}
	return list
}
