package limits

import (
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// matches reports whether a pattern fits, as in rules: a star stands for any run of
// bytes, also none, and nothing else is special. Each piece is looked for as early as
// possible, which never misses a match and takes time in proportion to the lengths.
func matches(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, head)
	for ok {
		piece, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, piece)
		}
		_, s, ok = strings.Cut(s, piece)
		rest = next
	}
	return false
}

// anyMatches reports whether any of the patterns fits; nil is no condition.
func anyMatches(patterns []string, s string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(p string) bool { return matches(p, s) })
}

// applies reports whether a call meets all conditions but that on its agent.
func (m *limit) applies(c *Call, p *authn.Principal) bool {
	return (m.methods == nil || slices.Contains(m.methods, c.Method)) &&
		(m.src.Issuers == nil || slices.Contains(m.src.Issuers, p.Issuer)) &&
		(m.src.Groups == nil || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(m.src.Groups, g) })) &&
		anyMatches(m.src.Subjects, p.Subject) && slices.ContainsFunc(c.skills(), func(s string) bool { return anyMatches(m.src.Skills, s) })
}

// skills are those that the call may be for, "" where there are none. To leave open which
// is no way around a limit on one.
func (c *Call) skills() []string {
	if c.Skill == "" && len(c.Skills) > 0 {
		return c.Skills
	}
	return []string{c.Skill}
}

// methodNames lists every operation under each name it has had.
func methodNames(extra []*wire.Method) (names map[string][]*wire.Method, all []*wire.Method) {
	names = map[string][]*wire.Method{}
	table := wire.Methods()
	for i := range table {
		m := &table[i]
		all = append(all, m)
		for _, name := range []string{m.Name, m.V03, m.V01} {
			if name != "" && !slices.Contains(names[name], m) {
				names[name] = append(names[name], m)
			}
		}
	}
	for _, m := range extra {
		all = append(all, m)
		names[m.Name] = append(names[m.Name], m)
	}
	return names, all
}
