package policy

import (
	"slices"
)

// covers reports whether r holds for every call that other holds for, as far as the
// conditions, read on their own, tell. Both have the same effect, or r denies.
func (r *rule) covers(other *rule) bool {
	a, b := r.source, other.source
	return other.methods&^r.methods == 0 &&
		r.agents.covers(b.Agents) && r.skills.covers(b.Skills) && r.subjects.covers(b.Subjects) &&
		widens(a.Issuers, b.Issuers) && widens(a.Groups, b.Groups) && within(a.Scopes, b.Scopes) &&
		widens(a.Clients, b.Clients) && widens(a.Actors, b.Actors) && widensClaims(a.Claims, b.Claims) &&
		a.Authentication.covers(b.Authentication) && (a.Consent == nil || b.Consent != nil && *a.Consent == *b.Consent) &&
		(a.Expr == "" || a.Expr == b.Expr) && r.circumstances.covers(other.circumstances)
}

// stops reports whether r, a deny rule, denies every call that other holds for.
func (s *Set) stops(r, other *rule) bool {
	if !r.covers(other) {
		return false
	}
	// A call without parts is within what an allow rule says of them, and in no deny rule.
	if r.circumstances != nil && r.circumstances.content != nil {
		return false
	}
	// See acrossSkills: an allow rule about some skills holds there, a deny rule does not.
	return r.skills.any || other.effect != allows || other.methods&(s.mayBeWide()|otherMethods) == 0
}

// mayBeWide are the methods that are about no skill unless somebody says one.
func (s *Set) mayBeWide() methods {
	var set methods
	for m, bit := range s.bits {
		if wide(m) {
			set |= bit
		}
	}
	return set
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

// covers reports whether a asks for no more than other does.
func (a *Authentication) covers(other *Authentication) bool {
	if a == nil || other == nil {
		return a == nil
	}
	return widens(a.ACR, other.ACR) && within(a.AMR, other.AMR) && looser(int64(a.MaxAge), int64(other.MaxAge))
}

// looser reports whether an upper bound is no lower than another; 0 is none.
func looser(a, b int64) bool { return a == 0 || b != 0 && b <= a }

func (c *circumstances) covers(other *circumstances) bool {
	if c == nil || other == nil {
		return c == nil
	}
	return (c.bindings == 0 || other.bindings != 0 && other.bindings&^c.bindings == 0) &&
		(c.sources == nil || other.sources != nil && c.sources.covers(other.sources)) &&
		(c.times == nil || other.times != nil && coversWindows(c.times, other.times)) &&
		c.content.covers(other.content)
}

// coversWindows reports whether each of some windows is within one of a list.
func coversWindows(list, some []window) bool {
	return !slices.ContainsFunc(some, func(o window) bool {
		return !slices.ContainsFunc(list, func(w window) bool { return w.covers(&o) })
	})
}

// covers reports whether every moment of other is in w.
func (w *window) covers(other *window) bool {
	if !w.after.IsZero() && (other.after.IsZero() || other.after.Before(w.after)) ||
		!w.before.IsZero() && (other.before.IsZero() || other.before.After(w.before)) {
		return false
	}
	if w.days == everyDay && w.from == 0 && w.to == dayMinutes {
		return true
	}
	if w.zone.String() != other.zone.String() {
		return false
	}
	for at := range 7 * dayMinutes {
		if day, at := weekdays(at); other.shows(day, at) && !w.shows(day, at) {
			return false
		}
	}
	return true
}

// covers reports whether messages that are within other are within c. In deny rules it is
// parts.
func (c *content) covers(other *content) bool {
	if c == nil || other == nil {
		return c == nil
	}
	return widens(c.kinds, other.kinds) && coversTypes(c.types, other.types) &&
		(c.hosts == nil || other.hosts != nil && c.hosts.covers(other.names)) &&
		looser(int64(c.maxParts), int64(other.maxParts)) &&
		looser(c.maxPart, other.maxPart) && looser(c.maxBytes, other.maxBytes)
}

func coversTypes(a, b []mediaRange) bool {
	return a == nil || b != nil && !slices.ContainsFunc(b, func(t mediaRange) bool {
		return !slices.ContainsFunc(a, func(wide mediaRange) bool { return wide.covers(t) })
	})
}
