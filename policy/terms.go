package policy

import (
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// terms are the conditions that few rules have: a rule without them holds nil and
// pays nothing for them. The methods do with nil what they do without a condition.
//
// A caller who lacks authentication or consent can go and get it, and is told so: what
// a caller may see (Sees, Skills, Extensions) is judged as if it had. The rest is about
// who the caller is, which no sign-in changes.
type terms struct {
	clients        *patterns
	actors         *actors
	claims         []claim // in the order of their names
	authentication *Authentication
	consent        *consent
	denies         bool // of a deny rule: what cannot be told counts as met
}

// newTerms compiles them, nil where the rule has none.
func newTerms(src *Rule) *terms {
	t := &terms{
		actors: newActors(src.Actors, src.Effect), claims: newClaims(src.Claims),
		authentication: src.Authentication, consent: newConsent(src.Consent), denies: src.Effect == "deny",
	}
	if src.Clients != nil {
		p := newPatterns(src.Clients)
		t.clients = &p
	}
	if t.clients == nil && t.actors == nil && t.claims == nil && t.authentication == nil && t.consent == nil {
		return nil
	}
	return t
}

// failed names the first condition on who the caller is that does not hold, by its
// key; "" when all do.
func (t *terms) failed(p *authn.Principal) string {
	switch {
	case t == nil:
		return ""
	case t.clients != nil && !t.calls(p):
		return "clients"
	case t.actors != nil && !t.actors.match(p.Actors):
		return "actors"
	}
	for i := range t.claims {
		if c := &t.claims[i]; !c.holds(p, t.denies) {
			return c.key
		}
	}
	return ""
}

// calls reports whether one of the clients is what calls. "*" is any that has a name.
func (t *terms) calls(p *authn.Principal) bool {
	return p.Client != "" && t.clients.match(p.Client) ||
		p.Workload != nil && t.clients.match(p.Workload.Subject)
}

// unready names the first condition that does not hold and that the caller can do
// something about, by its key; "" when all do.
func (t *terms) unready(p *authn.Principal, now time.Time) string {
	if t == nil {
		return ""
	}
	if key := t.authentication.lacks(p, now); key != "" {
		return key
	}
	return t.consent.lacks(p)
}

// nobody alone in Rule.Actors is for callers nobody acts for.
const nobody = "none"

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
