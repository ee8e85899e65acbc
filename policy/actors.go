package policy

import (
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// nobody alone in Rule.Actors is for callers nobody acts for.
const nobody = "none"

// onActors is the condition on who acts for the caller (the act claim of RFC 8693 §4.1).
var onActors = condition{
	key: "actors", about: ofCaller, patterns: "yes",
	holds: "whoever acts for the caller is one of them; in an allow rule every one, in a deny rule any; `[none]`: nobody does",
	compile: func(_ *compiler, r *rule) []error {
		list := r.source.Actors
		r.actors = newActors(list, r.source.Effect)
		problems := checkList("actors", list, false, "rule")
		if slices.Contains(list, nobody) && len(list) > 1 {
			problems = append(problems, keypath.Point(errors.New(`actors has "none" beside others; it stands alone`), "actors", slices.Index(list, nobody)))
		}
		return problems
	},
	has:    func(r *rule) bool { return r.actors != nil },
	caller: func(r *rule, p *authn.Principal) string { return unless(r.actors.match(p.Actors), "actors") },
	covers: func(r, other *rule) bool { return widens(r.source.Actors, other.source.Actors) },
	names: func(r *rule) string {
		if r.actors.none {
			return ""
		}
		return "clients or actors"
	},
}

// actors is Rule.Actors, compiled.
type actors struct {
	none    bool // nobody may act for the caller
	anyOf   bool // one is enough; else all have to fit
	allowed patterns
}

// newActors compiles them. One actor that a deny rule names is enough for it: otherwise
// passing a call on by one more actor would be a way around it.
func newActors(list []string, effect string) *actors {
	switch {
	case list == nil:
		return nil
	case slices.Contains(list, nobody):
		return &actors{none: true}
	}
	return &actors{anyOf: effect == "deny", allowed: newPatterns(list)}
}

// match reports whether the condition holds for the actors of a credential.
func (a *actors) match(list []authn.Actor) bool {
	if a.none || len(list) == 0 {
		return a.none && len(list) == 0
	}
	for i := range list {
		if a.allowed.match(list[i].Subject) == a.anyOf {
			return a.anyOf
		}
	}
	return !a.anyOf
}
