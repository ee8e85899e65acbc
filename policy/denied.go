package policy

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Denied is the only error of Check and Resolve.
type Denied struct {
	Rule   string // the deny rule, or one of Undecided
	Reason string // for the log and the audit record; names skills and rules, so not for the caller

	// Scopes are what the caller lacks, when an allow rule fails on nothing else.
	// They may be told to the caller (RFC 6750 §3.1, insufficient_scope) if Visible.
	Scopes []string

	// StepUp is what the caller's authentication lacks, when an allow rule fails on
	// nothing else but it and Scopes. It may be told to the caller if Visible.
	StepUp *StepUp

	// Visible says that some other call on the agent is allowed, so that the caller
	// may learn that it exists. Otherwise the answer must be that of an agent that
	// does not.
	Visible bool
}

// Error is for the log.
func (d *Denied) Error() string { return "denied by " + d.Rule + ": " + d.Reason }

// denied says why a call that decide refused was refused.
func (s *Set) denied(q *Request, n *need, hits []*rule, v *outcome) *Denied {
	d := &Denied{Rule: byDefault, Visible: s.Sees(q.Principal, q.Agent)}
	switch {
	case v.by != nil:
		d.Rule = v.by.name
		d.Reason = "a deny rule matches" + n.reached(v.by)
	case n.level == unsettled:
		d.Rule = byUndeclared
		d.Reason = "the call does not say which skill it is for"
	default:
		rules := prospects{hits, s.unscoped(q.Principal, q.Agent, s.ops.bit(q.Method), n)}
		if d.Reason = s.lacking(q, n, rules); v.scopes {
			d.Rule, d.Reason = byScopes, "the card asks for scopes at the skill that the credential lacks"
		}
		d.Scopes, d.StepUp = s.missing(q, n, prospects{hits, curable(rules.candidates, q, n)})
	}
	return d
}

// prospects are the rules that a refusal is explained by: those that match, and those
// that would allow the call if the caller did something for it. It is passed by value, so
// that hits can stay on the stack.
type prospects struct{ hits, candidates []*rule }

// curable keeps the candidates that a scope or a sign-in can make match. A consent that
// is a claim is nothing that either is known to bring, and neither is another place,
// time or content, or what an expression looks at.
func curable(candidates []*rule, q *Request, n *need) []*rule {
	c := q.circumstances() // no other call is meant, but this one with more in its credential
	return slices.DeleteFunc(candidates, func(r *rule) bool {
		return r.unmetByCall(c) != "" || !n.met(r) || !r.obtain(q, &demand{}) || !n.exprs.holds(r, q)
	})
}

// lacking names the first skill that no rule allows, and the rule that would if the
// caller did something for it.
func (s *Set) lacking(q *Request, n *need, rules prospects) string {
	for i := range n.count() {
		skill := n.skill(i)
		if s.allow || first(rules.hits, n.level, skill, allows) != nil {
			continue
		}
		text := "no rule allows the call"
		if n.level == bySkill || n.level == anySkill {
			text = fmt.Sprintf("no rule allows skill %q", skill)
		}
		if r := first(rules.candidates, n.level, skill, allows); r != nil {
			if key := n.exprs.unmet(r, q); key != "" {
				text += fmt.Sprintf("; rule %q would, but for %s", r.name, key)
			}
		}
		return text
	}
	return "no rule allows the call"
}

// missing lists the scopes, and says the authentication, that would turn the refusal
// into a yes. If a needed skill would stay refused whatever the caller gets, there are
// none: a caller must not be sent for a consent that does not help. Where one skill is
// enough it is the one that takes the least.
func (s *Set) missing(q *Request, n *need, rules prospects) ([]string, *StepUp) {
	var whole, least *demand
	for i := range n.count() {
		d := &demand{}
		if n.level != anySkill && whole != nil {
			d = whole
		}
		ok := s.ask(d, q, n, n.skill(i), rules)
		switch {
		case n.level != anySkill && !ok:
			return nil, nil
		case n.level != anySkill:
			whole = d
		case ok && (least == nil || d.effort() < least.effort()):
			least = d
		}
	}
	if n.level == anySkill {
		whole = least
	}
	switch {
	case whole == nil:
		return nil, nil
	case !whole.lacks:
		return whole.scopes, nil
	}
	return whole.scopes, &whole.step
}

// demand is what a caller has to get for a call to be allowed.
type demand struct {
	scopes []string
	step   StepUp
	lacks  bool // the authentication that step is; else the caller's will do
}

// effort is how much a caller has to obtain: the scopes, and one for another sign-in.
func (d *demand) effort() int {
	if d.lacks {
		return len(d.scopes) + 1
	}
	return len(d.scopes)
}

// ask adds what one skill takes. It reports false where nothing helps.
func (s *Set) ask(d *demand, q *Request, n *need, skill string, rules prospects) bool {
	if n.level == anySkill && first(rules.hits, n.level, skill, denies) != nil {
		return false
	}
	r := first(rules.hits, n.level, skill, allows)
	if r == nil && !s.allow {
		r = first(rules.candidates, n.level, skill, allows)
	}
	switch {
	case r == nil && !s.allow:
		return false
	case r != nil:
		d.scopes = appendMissing(d.scopes, r.caller.scopes, q.Principal)
	}
	if s.cardScopes && (n.level == bySkill || n.level == anySkill) {
		d.scopes = appendMissing(d.scopes, nearest(q.SkillScopes[skill], q.Principal), q.Principal)
	}
	return r == nil || r.obtain(q, d)
}

// obtain adds what a caller has to sign in for to make the rule match. It reports false
// where nothing that a caller can obtain is known to help.
func (r *rule) obtain(q *Request, d *demand) bool {
	if r.checks.ofSignIn == nil {
		return true
	}
	begun := q.begun()
	for _, c := range r.checks.all {
		if c.obtain == nil {
			continue
		}
		var ok bool
		if *d, ok = c.obtain(r, q.Principal, begun, *d); !ok {
			return false
		}
	}
	return true
}

// appendMissing adds the scopes that the credential lacks, each once.
func appendMissing(scopes, needed []string, p *authn.Principal) []string {
	for _, scope := range needed {
		if !slices.Contains(p.Scopes, scope) && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}
