package policy

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
)

// outcome is what the rules that match come to.
type outcome struct {
	ok     bool
	by     *rule    // that decided; nil where the default did, or what the next says
	scopes bool     // rules allow it, and the card asks for scopes that the caller lacks
	skills []string // with anySkill: what the call is allowed for
}

// decide applies the order of effects to the rules that match everything but the
// skill. Of several rules that decide it is the first in the file that decided the
// first skill, so that the audit record does not depend on how rules are indexed.
func (s *Set) decide(q *Request, hits []*rule, n *need) outcome {
	switch n.level {
	case unsettled:
		return outcome{}
	case anySkill:
		return s.decideAny(q, hits, n)
	}
	for i := range n.count() {
		if r := first(hits, n.level, n.skill(i), denies); r != nil {
			return outcome{by: r}
		}
	}
	v := outcome{ok: true}
	for i := range n.count() {
		r := first(hits, n.level, n.skill(i), allows)
		if r == nil && !s.allow {
			return outcome{}
		}
		if i == 0 {
			v.by = r
		}
	}
	// After the rules: what they deny, no scope helps.
	if n.level == bySkill && s.cardScopes {
		for i := range n.count() {
			if !s.scoped(q, n.skill(i)) {
				return outcome{scopes: true}
			}
		}
	}
	return v
}

// decideAny looks for the skills that the call may be for. It is refused by a deny rule
// if each of them is, and else for what is missing.
func (s *Set) decideAny(q *Request, hits []*rule, n *need) outcome {
	var v, no outcome
	open := false // some skill is neither allowed nor denied
	for i := range n.count() {
		skill := n.skill(i)
		if r := first(hits, n.level, skill, denies); r != nil {
			if no.by == nil {
				no.by = r
			}
			continue
		}
		r := first(hits, n.level, skill, allows)
		switch {
		case r == nil && !s.allow:
			open = true
		case !s.scoped(q, skill):
			no.scopes = true
		default:
			if !v.ok {
				v.ok, v.by = true, r
			}
			v.skills = append(v.skills, skill)
		}
	}
	if v.ok {
		return v
	}
	if open || no.scopes {
		no.by = nil
	}
	return no
}

// UsesCardScopes reports whether the scopes that cards ask for at skills count, and so
// whether Request.SkillScopes has to be given.
func (s *Set) UsesCardScopes() bool { return s.cardScopes }

// scoped reports whether a caller has the scopes that the agent's card asks for at a
// skill: all of one of the alternatives. A skill that the card says nothing of asks for
// none.
func (s *Set) scoped(q *Request, skill string) bool {
	return !s.cardScopes || holdsOne(q.SkillScopes[skill], q.Principal)
}

// holdsOne reports whether the credential has all scopes of one of the alternatives.
func holdsOne(alternatives [][]string, p *authn.Principal) bool {
	for _, a := range alternatives {
		if pattern.Within(a, p.Scopes) {
			return true
		}
	}
	return len(alternatives) == 0
}

// nearest lists what the caller lacks of the alternative of which the fewest are
// missing, of the first such.
func nearest(alternatives [][]string, p *authn.Principal) []string {
	var least []string
	for i, a := range alternatives {
		if lacks := appendMissing(nil, a, p); i == 0 || len(lacks) < len(least) {
			least = lacks
		}
	}
	return least
}

// approvals are what the rules that hold for a call ask for, in the order of the file.
func approvals(hits []*rule, n *need) []*approval.Rule {
	var list []*approval.Rule
	last := -1
	for {
		var next *rule
		for _, r := range hits {
			if r.effect == approves && !r.shadow && r.pos > last && (next == nil || r.pos < next.pos) && n.met(r) {
				next = r
			}
		}
		if next == nil {
			return list
		}
		list = append(list, next.approval)
		last = next.pos
	}
}

// Approval is what the rule of a name asks for; nil where there is none, or its effect is another one.
func (s *Set) Approval(rule string) *approval.Rule {
	for _, r := range s.rules {
		if r.name == rule && !r.shadow {
			return r.approval
		}
	}
	return nil
}

// Approves reports whether some rule has calls wait for approval.
func (s *Set) Approves() bool { return s.approves }
