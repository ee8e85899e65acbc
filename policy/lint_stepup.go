package policy

import (
	"fmt"
	"slices"
)

// outdone says that the authentication or consent that a rule asks for is never asked
// of anybody, because another rule allows the same calls without it. Allow rules add
// up: a stricter one beside a laxer one takes nothing away.
func (s *Set) outdone(r *rule) string {
	if r.effect != allows || r.shadow || r.terms == nil || r.terms.authentication == nil && r.terms.consent == nil {
		return ""
	}
	for _, other := range s.rules {
		lax := other.terms == nil || other.terms.authentication == nil && other.terms.consent == nil
		if lax && !other.momentary() && other.effect == allows && !other.shadow && other.covers(r) {
			return fmt.Sprintf("rule %q allows the same calls without its authentication and consent, "+
				"so that nobody is asked for them", other.name)
		}
	}
	return ""
}

// covers reports whether r matches whatever another allow rule does, as far as the
// conditions, read on their own, tell.
func (r *rule) covers(other *rule) bool {
	a, b := r.source, other.source
	return other.methods&^r.methods == 0 &&
		r.agents.covers(b.Agents) && r.skills.covers(b.Skills) && r.subjects.covers(b.Subjects) &&
		widens(a.Issuers, b.Issuers) && widens(a.Groups, b.Groups) && within(a.Scopes, b.Scopes) &&
		widens(a.Clients, b.Clients) && widens(a.Actors, b.Actors) && widensClaims(a.Claims, b.Claims)
}

// covers reports whether everything that a list names fits. As in overruled, matching
// a glob as if it were a name is sound.
func (p *patterns) covers(list []string) bool {
	return p.any || list != nil && !slices.ContainsFunc(list, func(pattern string) bool { return !p.match(pattern) })
}

// widens reports whether a condition that any of a satisfies holds where one on b does.
func widens(a, b []string) bool { return a == nil || b != nil && within(b, a) }

func widensClaims(a, b map[string][]string) bool {
	for path, values := range a {
		if !widens(values, b[path]) {
			return false
		}
	}
	return true
}
