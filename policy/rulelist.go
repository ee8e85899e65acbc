package policy

import (
	"iter"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// ruleList is a list of rules, in the order of the file. In a long one those that name their
// skills are found by these: the rules for a group of people may be thousands, each about
// another skill. A nil one is empty.
type ruleList struct {
	all   []*rule
	open  []*rule            // those with no condition on skills, or with a pattern
	named map[string][]*rule // the others, under each of their skills; nil in a short one
}

// shortList is how many rules are walked rather than looked up.
const shortList = 16

// add puts a rule at the end, once: rules come in order, so a repetition finds the rule
// there.
func (p *ruleList) add(r *rule) {
	if endsWith(p.all, r) {
		return
	}
	p.all = append(p.all, r)
	switch {
	// A long list has its index already.
	case p.named != nil:
		p.file(r)
	// This rule makes it a long one: all so far are entered.
	case len(p.all) > shortList:
		p.named = make(map[string][]*rule)
		for _, r := range p.all {
			p.file(r)
		}
	}
}

// file enters a rule by its skills.
func (p *ruleList) file(r *rule) {
	if !r.target.skills.Exact() {
		p.open = append(p.open, r)
		return
	}
	for _, skill := range r.source.Skills {
		if !endsWith(p.named[skill], r) {
			p.named[skill] = append(p.named[skill], r)
		}
	}
}

// endsWith reports whether a rule is the last of a list.
func endsWith(list []*rule, r *rule) bool { return len(list) > 0 && list[len(list)-1] == r }

// rules are all of it.
func (p *ruleList) rules() []*rule {
	if p == nil {
		return nil
	}
	return p.all
}

// narrow reports whether looking up the skills of a need spares walking the pile.
func (p *ruleList) narrow(n *need) bool {
	if n == nil || p.named == nil {
		return false
	}
	switch n.level {
	case bySkill, anySkill:
		return n.count() <= len(p.all)/shortList
	case withoutSkill:
		return true
	case acrossSkills, unsettled: // rules hold there whatever their skills, or none does
	}
	return false
}

// pick appends the rules of the pile that hold for a principal, as gather does.
func (p *ruleList) pick(hits []*rule, of *authn.Principal, m methods, n *need) []*rule {
	switch {
	case p == nil:
		return hits
	case !p.narrow(n):
		return pick(hits, p.all, of, m)
	}
	hits = pick(hits, p.open, of, m)
	if n.level == withoutSkill {
		return hits
	}
	for i := range n.count() {
		hits = pick(hits, p.named[n.skill(i)], of, m)
	}
	return hits
}

// about yields the lists of rules among which are all that a need can meet.
func (p *ruleList) about(n *need) iter.Seq[[]*rule] {
	return func(yield func([]*rule) bool) {
		switch {
		case p == nil:
			return
		case !p.narrow(n):
			yield(p.all)
			return
		case !yield(p.open), n.level == withoutSkill:
			return
		}
		for i := range n.count() {
			if !yield(p.named[n.skill(i)]) {
				return
			}
		}
	}
}

// allows reports whether some rule of the pile allows a principal one of the methods.
func (p *ruleList) allows(of *authn.Principal, m methods) bool {
	return slices.ContainsFunc(p.rules(), func(r *rule) bool {
		return r.effect == allows && !r.shadow && r.target.methods&m != 0 && r.identifies(of) && r.scoped(of)
	})
}
