package pdp

import (
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// patterns is a condition as rules have it: any of the strings, in which a * stands for
// any run of bytes, also none. Nil is no condition.
type patterns []string

// match reports whether any pattern fits. The empty string, which no pattern can name,
// fits only where there is no condition or nothing but stars.
func (p patterns) match(s string) bool {
	for _, pattern := range p {
		if glob(pattern, s) {
			return true
		}
	}
	return p == nil
}

// glob looks for each piece between stars as early as possible, which never misses a
// match and makes the cost linear.
func glob(pattern, s string) bool {
	prefix, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, prefix)
	for ok {
		piece, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, piece)
		}
		_, s, ok = strings.Cut(s, piece)
		rest = after
	}
	return false
}

// methodNames lists every operation under each name that it has had.
func methodNames(extra []*wire.Method) map[string][]*wire.Method {
	names := map[string][]*wire.Method{}
	table := wire.Methods()
	for i := range table {
		m := &table[i]
		for _, name := range []string{m.Name, m.V03, m.V01} {
			if name != "" && !slices.Contains(names[name], m) {
				names[name] = append(names[name], m)
			}
		}
	}
	for _, m := range extra {
		names[m.Name] = append(names[m.Name], m)
	}
	return names
}

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
