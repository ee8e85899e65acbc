package limits

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// applies reports whether a call meets all conditions but that on its agent.
func (m *limit) applies(c *Call, p *authn.Principal) bool {
	return (m.methods == nil || slices.Contains(m.methods, c.Method)) &&
		(m.src.Issuers == nil || slices.Contains(m.src.Issuers, p.Issuer)) &&
		(m.src.Groups == nil || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(m.src.Groups, g) })) &&
		pattern.Any(m.src.Subjects, p.Subject) && slices.ContainsFunc(c.skills(), func(s string) bool { return pattern.Any(m.src.Skills, s) })
}

// skills are those that the call may be for, "" where there are none. To leave open which
// is no way around a limit on one.
func (c *Call) skills() []string {
	// A limit that holds for any of them applies, and the call costs what the dearest does.
	if c.Skill == "" && len(c.Skills) > 0 {
		return c.Skills
	}
	return []string{c.Skill}
}
