package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// onIssuers is the condition on who vouches for the caller.
var onIssuers = condition{
	key: "issuers", about: ofCaller, holds: "the principal's issuer is one of them",
	compile: func(_ *compiler, r *rule) []error {
		r.caller.issuers = r.source.Issuers
		return checkList("issuers", r.caller.issuers, true, "rule")
	},
	has: func(r *rule) bool { return r.caller.issuers != nil },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(slices.Contains(r.caller.issuers, q.Principal.Issuer), "issuers")
	},
	covers: func(r, other *rule) bool { return pattern.Widens(r.caller.issuers, other.caller.issuers) },
	lint: func(_ *Set, r *rule, k Known) []warning {
		var list []warning
		for _, issuer := range r.caller.issuers {
			if k.Issuers != nil && !slices.Contains(k.Issuers, issuer) {
				list = append(list, warning{r.name, fmt.Sprintf("issuer %q is not configured", issuer)})
			}
		}
		return list
	},
}

// onSubjects is the condition on who calls.
var onSubjects = condition{
	key: "subjects", about: ofCaller, holds: "the principal's subject is one of them", patterns: "yes",
	compile: func(_ *compiler, r *rule) []error {
		r.caller.subjects = pattern.Compile(r.source.Subjects)
		return checkList("subjects", r.source.Subjects, false, "rule")
	},
	// ["*"] is no condition: everybody has a subject.
	has: func(r *rule) bool { return !r.caller.subjects.All() },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(r.caller.subjects.Match(q.Principal.Subject), "subjects")
	},
	covers: func(r, other *rule) bool { return r.caller.subjects.Covers(other.source.Subjects) },
	names:  func(*rule) string { return "subjects or groups" },
}

// onGroups is the condition on the groups that the issuer says the caller is in.
var onGroups = condition{
	key: "groups", about: ofCaller, holds: "the principal is in one of them",
	compile: func(_ *compiler, r *rule) []error {
		r.caller.groups = r.source.Groups
		return checkList("groups", r.caller.groups, true, "rule")
	},
	has: func(r *rule) bool { return r.caller.groups != nil },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(pattern.Intersect(r.caller.groups, q.Principal.Groups), "groups")
	},
	covers: func(r, other *rule) bool { return pattern.Widens(r.caller.groups, other.caller.groups) },
	names:  func(*rule) string { return "subjects or groups" },
}

// onClients is the condition on the software that calls: the OAuth client, or the workload.
// "*" is any that has a name.
var onClients = condition{
	key: "clients", about: ofCaller, patterns: "yes",
	holds: "the OAuth client, or the workload that came with the user, is one of them",
	compile: func(_ *compiler, r *rule) []error {
		// Behind a pointer, since a lone star is a condition here: somebody has to be named.
		if list := r.source.Clients; list != nil {
			clients := pattern.Compile(list)
			r.caller.clients = &clients
		}
		return checkList("clients", r.source.Clients, false, "rule")
	},
	has: func(r *rule) bool { return r.caller.clients != nil },
	caller: func(r *rule, p *authn.Principal) string {
		return unless(p.Client != "" && r.caller.clients.Match(p.Client) ||
			p.Workload != nil && r.caller.clients.Match(p.Workload.Subject), "clients")
	},
	covers: func(r, other *rule) bool { return pattern.Widens(r.source.Clients, other.source.Clients) },
	names:  func(*rule) string { return "clients or actors" },
}

// onScopes is the condition on what the credential is good for. It is asked apart from who
// the caller is: a caller who lacks nothing but scopes is told which (RFC 6750 §3.1).
var onScopes = condition{
	key: "scopes", about: ofCaller, holds: "the credential has all of them",
	compile: func(_ *compiler, r *rule) []error {
		r.caller.scopes = r.source.Scopes
		return checkList("scopes", r.caller.scopes, true, "rule")
	},
	has:    func(r *rule) bool { return r.caller.scopes != nil },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string { return unless(r.scoped(q.Principal), "scopes") },
	// All scopes are needed, so that fewer of them hold for more calls.
	covers: func(r, other *rule) bool { return pattern.Within(r.caller.scopes, other.caller.scopes) },
}

// lintNames reports a rule that goes by names which several issuers may give to anybody.
func (r *rule) lintNames(issuers []string) []warning {
	if r.caller.issuers != nil || len(issuers) < 2 || r.restricts() {
		return nil
	}
	for _, d := range r.checks.all {
		if d.names == nil {
			continue
		}
		if names := d.names(r); names != "" {
			return []warning{{r.name, fmt.Sprintf("it names %s but no issuers, "+
				"so the same names from any of %d issuers match", names, len(issuers))}}
		}
	}
	return nil
}

// nobody alone in Rule.Actors is for callers nobody acts for.
const nobody = "none"

// onActors is the condition on who acts for the caller (the act claim of RFC 8693 §4.1).
var onActors = condition{
	key: "actors", about: ofCaller, patterns: "yes",
	holds: "whoever acts for the caller is one of them; in an allow rule every one, in a deny rule any; `[none]`: nobody does",
	compile: func(_ *compiler, r *rule) []error {
		list := r.source.Actors
		r.caller.actors = newActors(list, r.source.Effect)
		problems := checkList("actors", list, false, "rule")
		if slices.Contains(list, nobody) && len(list) > 1 {
			problems = append(problems, keypath.Point(errors.New(`actors has "none" beside others; it stands alone`), "actors", slices.Index(list, nobody)))
		}
		return problems
	},
	has:    func(r *rule) bool { return r.caller.actors != nil },
	caller: func(r *rule, p *authn.Principal) string { return unless(r.caller.actors.match(p.Actors), "actors") },
	covers: func(r, other *rule) bool { return pattern.Widens(r.source.Actors, other.source.Actors) },
	names: func(r *rule) string {
		if r.caller.actors.none {
			return ""
		}
		return "clients or actors"
	},
}

// actors is Rule.Actors, compiled.
type actors struct {
	none    bool // nobody may act for the caller
	anyOf   bool // one is enough; else all have to fit
	allowed pattern.List
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
	return &actors{anyOf: effect == "deny", allowed: pattern.Compile(list)}
}

// match reports whether the condition holds for the actors of a credential.
func (a *actors) match(list []authn.Actor) bool {
	if a.none || len(list) == 0 {
		return a.none && len(list) == 0
	}
	for i := range list {
		if a.allowed.Match(list[i].Subject) == a.anyOf {
			return a.anyOf
		}
	}
	return !a.anyOf
}
