package policy

import (
	"fmt"
	"slices"
	"time"
)

// Warning is about a rule that can be compiled and yet cannot be meant.
type Warning struct {
	Rule string // "" when it is about the rules as a whole
	Text string
}

// String is for the log.
func (w Warning) String() string {
	if w.Rule == "" {
		return w.Text
	}
	return fmt.Sprintf("rule %q: %s", w.Rule, w.Text)
}

// warnings are what the rules alone give reason for.
func (s *Set) warnings(buckets map[string]*bucket) []Warning {
	var list []Warning
	closed, others := s.closed(), s.shadowed(buckets)
	open := false
	for _, r := range s.rules {
		open = open || r.effect == allows && !r.shadow
		if text := s.dead(r, closed); text != "" {
			list = append(list, Warning{r.name, text})
		} else if text := s.idle(r, others); text != "" {
			list = append(list, Warning{r.name, text})
		}
		if text := r.vacuous(); text != "" {
			list = append(list, Warning{r.name, text})
		}
	}
	list = append(list, s.warnSharing()...)
	if !s.allow && !open {
		list = append(list, Warning{Text: "no rule allows anything and the default is deny: every call is denied"})
	}
	return list
}

// Unused are the agents that no rule lets anybody use while others may be used: they are
// registered, and hardly meant to be closed.
func (s *Set) Unused() []string {
	var ids []string
	for _, id := range s.ids {
		lets := func(r *rule) bool { return r.effect == allows && !r.shadow && r.agents.match(id) }
		if !slices.ContainsFunc(s.rules, lets) {
			ids = append(ids, id)
		}
	}
	if s.allow || len(ids) == len(s.ids) {
		return nil
	}
	return ids
}

// dead says why a rule can never decide anything, or "".
func (s *Set) dead(r *rule, closed patterns) string {
	switch {
	case !s.reaches(r):
		return "no configured agent has such an id, so the rule can never match"
	case !s.possible(r):
		return "none of its methods can be called over its bindings, so the rule can never match"
	case r.effect == denies && s.partless(r):
		return "no call that it is about has such parts, so the rule can never match"
	case r.shadow:
		return ""
	case r.effect == allows && overruled(r, closed):
		return "a deny rule without other conditions covers its agents, so it can never allow anything"
	case r.effect == silent && overruled(r, closed):
		return "a deny rule without other conditions covers its agents, so there is never a call it is about"
	case r.effect == allows && s.allow && r.says == nil:
		return "the default is allow, so it decides nothing"
	case r.effect != allows && !r.skills.any && r.methods&^s.wideMethods() == 0:
		return "it is about some skills of methods that are about no skill; " +
			"it matches only calls under the path of such a skill"
	}
	return ""
}

// reaches reports whether any configured agent can meet the rule.
func (s *Set) reaches(r *rule) bool {
	if r.agents.any {
		return true
	}
	return slices.ContainsFunc(r.source.Agents, func(pattern string) bool {
		return len(s.matching(pattern)) > 0
	})
}

// closed are the agents that some rule denies to everybody, as patterns.
func (s *Set) closed() patterns {
	list := []string{}
	for _, r := range s.rules {
		if r.effect != denies || r.shadow || r.methods != allMethods || !r.skills.any || !r.subjects.any ||
			r.issuers != nil || r.groups != nil || r.scopes != nil || r.terms != nil || r.momentary() {
			continue
		}
		if r.agents.any {
			return patterns{any: true}
		}
		list = append(list, r.source.Agents...)
	}
	return newPatterns(list)
}

// overruled reports whether all agents of a rule are closed. Matching a glob as
// if it were an id is sound: its stars can only be taken by the other's stars,
// which then take whatever they stand for.
func overruled(r *rule, closed patterns) bool {
	if r.agents.any {
		return closed.any
	}
	return !slices.ContainsFunc(r.source.Agents, func(pattern string) bool { return !closed.match(pattern) })
}

// wideMethods are the methods that are about no skill for certain. Those that
// extensions bring may need one.
func (s *Set) wideMethods() methods {
	var set methods
	for m, bit := range s.bits {
		if wide(m) && m.Extension == "" {
			set |= bit
		}
	}
	return set
}

// Known is what is found out only while the gateway runs.
type Known struct {
	Issuers []string            // that principals can come from; nil when not known
	Skills  map[string][]string // by agent id; agents whose card is not known are left out
	Now     time.Time           // for windows that are over; zero when not asked
}

// Lint compares the rules with what is known by now: issuers and skills that do
// not exist, times that are over, and subjects or groups that say too little when several
// issuers vouch for them.
func (s *Set) Lint(k Known) []Warning {
	var list []Warning
	for _, r := range s.rules {
		list = append(list, r.lintIssuers(k.Issuers)...)
		list = append(list, s.lintSkills(r, k.Skills)...)
		list = append(list, r.lintTimes(k.Now)...)
	}
	return append(list, s.lintSharing(k)...)
}

func (r *rule) lintIssuers(issuers []string) []Warning {
	var list []Warning
	if issuers == nil {
		return nil
	}
	for _, issuer := range r.issuers {
		if !slices.Contains(issuers, issuer) {
			list = append(list, Warning{r.name, fmt.Sprintf("issuer %q is not configured", issuer)})
		}
	}
	if names := r.names(); r.issuers == nil && len(issuers) > 1 && names != "" && r.effect != denies {
		list = append(list, Warning{r.name, fmt.Sprintf("it names %s but no issuers, "+
			"so the same names from any of %d issuers match", names, len(issuers))})
	}
	return list
}

// names says what the rule knows callers by that means little without an issuer.
func (r *rule) names() string {
	switch {
	case !r.subjects.any || r.groups != nil:
		return "subjects or groups"
	case r.terms == nil:
		return ""
	case r.terms.clients != nil || r.terms.actors != nil && !r.terms.actors.none:
		return "clients or actors"
	case r.terms.claims != nil:
		return "claims"
	}
	return ""
}

// lintSkills reports the skills that none of the rule's agents has. A rule with
// an agent whose skills are not known yet is left alone.
func (s *Set) lintSkills(r *rule, known map[string][]string) []Warning {
	if r.skills.any {
		return nil
	}
	var list []Warning
	for _, skill := range s.unknownSkills(r.places(), r.source.Skills, known) {
		list = append(list, Warning{r.name, fmt.Sprintf("none of its agents has a skill %q", skill)})
	}
	return list
}
