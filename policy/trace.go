package policy

import "cmp"

// step is what one rule had to say about a call.
type step struct {
	Rule   string
	Effect string // "allow", "deny", or "extensions" for a rule that only speaks of those
	Shadow bool
	// Failed is the first condition that does not hold, by its key: "groups", "claims.NAME",
	// "content.mediaTypes", "authentication.maxAge"; "" when the rule matches. What another
	// call could meet comes after what the caller is, and then what the caller can do
	// something about, authentication and consent. The last is "expr".
	Failed string
	// Obtainable says that Failed is about what the caller can obtain by signing in again.
	Obtainable bool
	// Skills are, of several that the call may be for, those that the rule is about; nil
	// where there is one or none.
	Skills []string
}

// Trace goes through all rules, in the order of the file, and says of each why it
// did or did not match. It is for people who ask why a call was refused; Check
// decides by the same conditions without looking at every rule. Where the scopes that
// the card asks for are lacking, a last step says so as a deny rule would.
func (s *Set) Trace(q Request) []step {
	if q.Principal == nil || q.Method == nil {
		return nil
	}
	// Rules are asked one by one, the index is passed by: also what it would have left out is
	// told of.
	n := s.need(&q)
	steps := make([]step, 0, len(s.rules))
	for _, r := range s.rules {
		failed, obtainable := s.failed(r, &q, &n)
		steps = append(steps, step{
			Rule: r.name, Effect: cmp.Or(r.source.Effect, "extensions"), Shadow: r.shadow,
			Failed: failed, Obtainable: obtainable, Skills: n.matched(r),
		})
	}
	if n.level != bySkill && n.level != anySkill {
		return steps
	}
	var lacking []string
	for i := range n.count() {
		if !s.scoped(&q, n.skill(i)) {
			lacking = append(lacking, n.skill(i))
		}
	}
	if lacking == nil {
		return steps
	}
	if n.all == nil {
		lacking = nil
	}
	return append(steps, step{Rule: byScopes, Effect: "deny", Skills: lacking})
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

// failed names the first condition of r that does not hold, and says whether the caller can
// obtain what it lacks.
func (s *Set) failed(r *rule, q *Request, n *need) (key string, obtainable bool) {
	for _, d := range r.checks.all {
		if key := d.fails(s, r, q, n); key != "" {
			return key, d.about == ofSignIn
		}
	}
	// A rule about any skill is not about a call that is for none: an agent may have no skills.
	return unless(n.met(r), onSkills.key), false
}
