package policy

import (
	"cmp"
	"slices"
)

// Step is what one rule had to say about a call.
type Step struct {
	Rule   string
	Effect string // "allow", "deny", or "extensions" for a rule that only speaks of those
	Shadow bool
	// Failed is the first condition that does not hold, by its key: "groups", "claims.NAME",
	// "content.mediaTypes", "authentication.maxAge"; "" when the rule matches. What another
	// call could meet comes after what the caller is, and then what the caller can do
	// something about, authentication and consent. The last is "expr".
	Failed string
	// Skills are, of several that the call may be for, those that the rule is about; nil
	// where there is one or none.
	Skills []string
}

// Trace goes through all rules, in the order of the file, and says of each why it
// did or did not match. It is for people who ask why a call was refused; Check
// decides by the same conditions without looking at every rule. Where the scopes that
// the card asks for are lacking, a last step says so as a deny rule would.
func (s *Set) Trace(q Request) []Step {
	if q.Principal == nil || q.Method == nil {
		return nil
	}
	n := s.need(&q)
	hasStepUp := make([]Step, 0, len(s.rules))
	for _, r := range s.rules {
		hasStepUp = append(hasStepUp, Step{
			Rule: r.name, Effect: cmp.Or(r.source.Effect, "extensions"), Shadow: r.shadow, Failed: s.failed(r, &q, &n),
			Skills: n.matched(r),
		})
	}
	if n.level != bySkill && n.level != anySkill {
		return hasStepUp
	}
	var lacking []string
	for i := range n.count() {
		if !s.scoped(&q, n.skill(i)) {
			lacking = append(lacking, n.skill(i))
		}
	}
	if lacking == nil {
		return hasStepUp
	}
	if n.all == nil {
		lacking = nil
	}
	return append(hasStepUp, Step{Rule: byScopes, Effect: "deny", Skills: lacking})
}

// matched lists the skills that r is about, of several.
func (n *need) matched(r *rule) []string {
	var list []string
	for _, skill := range n.all {
		if n.level.met(r, skill) {
			list = append(list, skill)
		}
	}
	return list
}

// failed names the first condition of r that does not hold.
func (s *Set) failed(r *rule, q *Request, n *need) string {
	p := q.Principal
	switch {
	case !r.agents.match(q.Agent):
		return "agents"
	case r.methods&s.bit(q.Method) == 0:
		return "methods"
	case r.issuers != nil && !slices.Contains(r.issuers, p.Issuer):
		return "issuers"
	case !r.subjects.match(p.Subject):
		return "subjects"
	case r.groups != nil && !intersect(r.groups, p.Groups):
		return "groups"
	}
	if key := r.terms.failed(p); key != "" {
		return key
	}
	switch {
	case !r.scoped(p):
		return "scopes"
	case !n.met(r):
		return "skills"
	}
	return n.exprs.unmet(r, q)
}
