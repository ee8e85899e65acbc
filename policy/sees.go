package policy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Sees reports whether a principal may learn that an agent exists: whether some
// call on it could be allowed. A caller for whom every call is denied is told
// that there is no such agent, and so is one whose credential is bound elsewhere. A
// rule whose authentication or consent is missing counts, since the caller can get it:
// who may not see what it needs another sign-in for would never sign in. Conditions on
// the call itself are left open too: a rule that allows calls under some is counted, and
// one that denies calls under some hides nothing, as another call may be allowed.
func (s *Set) Sees(p *authn.Principal, agent string) bool {
	buckets, known := s.agents[agent]
	if !known || p == nil || !p.MayUse(agent) {
		return false
	}
	var room [hitRoom]*rule
	// All rules that can deny here are among those without a condition on skills. Of the
	// others, of which there may be thousands, one that allows something is enough.
	hits := gather(room[:0], buckets, p, allMethods, &need{level: withoutSkill})
	allowed, denied := s.weigh(hits, 0, acrossSkills, "", allMethods)
	return allowed&^denied != 0 ||
		slices.ContainsFunc(buckets, func(b *bucket) bool { return b.allows(p, allMethods&^denied) })
}

// Hides says why an agent does not exist for a principal; nil where it does (Sees).
func (s *Set) Hides(p *authn.Principal, agent string) *Denied {
	switch {
	case p != nil && !p.MayUse(agent):
		return &Denied{Rule: byCredential, Reason: "the credential is not valid for this agent"}
	case s.Sees(p, agent):
		return nil
	}
	if r := s.hider(p, agent); r != nil {
		return &Denied{Rule: r.name, Reason: "a deny rule matches what the caller may do on this agent, so that it does not exist for the caller"}
	}
	return &Denied{Rule: byDefault, Reason: "no rule allows the caller anything on this agent, so that it does not exist for the caller"}
}

// hider is the first deny rule, in the order of the file, that takes something from a principal which another rule, or
// the default, allows on an agent; nil where nothing is allowed in the first place.
func (s *Set) hider(p *authn.Principal, agent string) (found *rule) {
	buckets := s.agents[agent]
	if p == nil {
		return nil
	}
	for _, r := range gather(nil, buckets, p, allMethods, &need{level: withoutSkill}) {
		if r.effect != denies || r.shadow || r.momentary() || !acrossSkills.met(r, "") || found != nil && found.pos < r.pos {
			continue
		}
		if s.allow || slices.ContainsFunc(buckets, func(b *bucket) bool { return b.allows(p, r.target.methods) }) {
			found = r
		}
	}
	return found
}

// Skills returns which of an agent's skills a principal may send messages to, in
// the order given; authentication, consent and conditions on the call are left open, as
// in Sees. It is what cards and the catalog show. The result is never nil: no skill is not the same as
// all skills.
func (s *Set) Skills(p *authn.Principal, agent string, all []string) []string {
	return s.SkillsWith(p, agent, all, nil)
}

// SkillsWith is Skills where the scopes count that the card asks for at skills (see
// Request.SkillScopes): a skill whose scopes the caller lacks is left out, as is one that
// rules ask other scopes for.
func (s *Set) SkillsWith(p *authn.Principal, agent string, all []string, scopes map[string][][]string) []string {
	return s.SkillsOver(0, p, agent, all, scopes)
}

// SkillsOver is SkillsWith for who reads of skills that are called over one binding: a rule that asks
// for others counts for nothing, and a condition on bindings holds. 0 is any binding.
func (s *Set) SkillsOver(b wire.Binding, p *authn.Principal, agent string, all []string, scopes map[string][][]string) []string {
	may := make([]string, 0, len(all))
	buckets, known := s.agents[agent]
	if !known || p == nil || !p.MayUse(agent) {
		return may
	}
	// Messages are what a skill is for: who may only read tasks of it does not see it.
	send := s.ops.sending()
	var room [hitRoom]*rule
	hits := gather(room[:0], buckets, p, send, nil)
	for _, skill := range all {
		if s.open(hits, b, bySkill, skill, send) && (!s.cardScopes || holdsOne(scopes[skill], p)) {
			may = append(may, skill)
		}
	}
	return may
}

// open reports whether any of the methods stays allowed when all denials are
// taken away.
func (s *Set) open(hits []*rule, b wire.Binding, l level, skill string, among methods) bool {
	allowed, denied := s.weigh(hits, b, l, skill, among)
	return allowed&among&^denied != 0
}

// weigh says which methods the rules allow, and which they deny whatever the call, over a binding or,
// for 0, any.
func (s *Set) weigh(hits []*rule, b wire.Binding, l level, skill string, among methods) (allowed, denied methods) {
	if s.allow {
		allowed = among
	}
	for _, r := range hits {
		switch {
		case r.shadow || !l.met(r, skill) || !r.over(b):
		case r.effect == denies && r.momentaryOver(b):
		case r.effect == denies:
			denied |= r.target.methods
		case r.effect == allows:
			allowed |= r.target.methods
		}
	}
	return allowed, denied
}
