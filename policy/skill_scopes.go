package policy

import "github.com/a2a-gateway/a2a-gateway/authn"

// UsesCardScopes reports whether the scopes that cards ask for at skills count, and so
// whether Request.SkillScopes has to be given.
func (s *Set) UsesCardScopes() bool { return s.cardScopes }

// scoped reports whether a caller has the scopes that the agent's card asks for at a
// skill: all of one of the alternatives. A skill that the card says nothing of asks for
// none.
func (s *Set) scoped(q *Request, skill string) bool {
	return !s.cardScopes || holdsOne(q.SkillScopes[skill], q.Principal)
}

func holdsOne(alternatives [][]string, p *authn.Principal) bool {
	for _, a := range alternatives {
		if within(a, p.Scopes) {
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
