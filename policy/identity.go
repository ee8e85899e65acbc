package policy

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// onIssuers is the condition on who vouches for the caller.
var onIssuers = condition{
	key: "issuers", about: ofCaller, holds: "the principal's issuer is one of them",
	compile: func(_ *compiler, r *rule) []error {
		r.issuers = r.source.Issuers
		return checkList("issuers", r.issuers, true, "rule")
	},
	has: func(r *rule) bool { return r.issuers != nil },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(slices.Contains(r.issuers, q.Principal.Issuer), "issuers")
	},
	covers: func(r, other *rule) bool { return widens(r.issuers, other.issuers) },
	lint: func(_ *Set, r *rule, k Known) []Warning {
		var list []Warning
		for _, issuer := range r.issuers {
			if k.Issuers != nil && !slices.Contains(k.Issuers, issuer) {
				list = append(list, Warning{r.name, fmt.Sprintf("issuer %q is not configured", issuer)})
			}
		}
		return list
	},
}

// onSubjects is the condition on who calls.
var onSubjects = condition{
	key: "subjects", about: ofCaller, holds: "the principal's subject is one of them", patterns: "yes",
	compile: func(_ *compiler, r *rule) []error {
		r.subjects = newPatterns(r.source.Subjects)
		return checkList("subjects", r.source.Subjects, false, "rule")
	},
	has: func(r *rule) bool { return !r.subjects.any },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(r.subjects.match(q.Principal.Subject), "subjects")
	},
	covers: func(r, other *rule) bool { return r.subjects.covers(other.source.Subjects) },
	names:  func(*rule) string { return "subjects or groups" },
}

// onGroups is the condition on the groups that the issuer says the caller is in.
var onGroups = condition{
	key: "groups", about: ofCaller, holds: "the principal is in one of them",
	compile: func(_ *compiler, r *rule) []error {
		r.groups = r.source.Groups
		return checkList("groups", r.groups, true, "rule")
	},
	has: func(r *rule) bool { return r.groups != nil },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string {
		return unless(intersect(r.groups, q.Principal.Groups), "groups")
	},
	covers: func(r, other *rule) bool { return widens(r.groups, other.groups) },
	names:  func(*rule) string { return "subjects or groups" },
}

// onClients is the condition on the software that calls: the OAuth client, or the workload.
// "*" is any that has a name.
var onClients = condition{
	key: "clients", about: ofCaller, patterns: "yes",
	holds: "the OAuth client, or the workload that came with the user, is one of them",
	compile: func(_ *compiler, r *rule) []error {
		if list := r.source.Clients; list != nil {
			clients := newPatterns(list)
			r.clients = &clients
		}
		return checkList("clients", r.source.Clients, false, "rule")
	},
	has: func(r *rule) bool { return r.clients != nil },
	caller: func(r *rule, p *authn.Principal) string {
		return unless(p.Client != "" && r.clients.match(p.Client) ||
			p.Workload != nil && r.clients.match(p.Workload.Subject), "clients")
	},
	covers: func(r, other *rule) bool { return widens(r.source.Clients, other.source.Clients) },
	names:  func(*rule) string { return "clients or actors" },
}

// onScopes is the condition on what the credential is good for. It is asked apart from who
// the caller is: a caller who lacks nothing but scopes is told which (RFC 6750 §3.1).
var onScopes = condition{
	key: "scopes", about: ofCaller, holds: "the credential has all of them",
	compile: func(_ *compiler, r *rule) []error {
		r.scopes = r.source.Scopes
		return checkList("scopes", r.scopes, true, "rule")
	},
	has:    func(r *rule) bool { return r.scopes != nil },
	traced: func(_ *Set, r *rule, q *Request, _ *need) string { return unless(r.scoped(q.Principal), "scopes") },
	covers: func(r, other *rule) bool { return within(r.scopes, other.scopes) },
}

// lintNames reports a rule that goes by names which several issuers may give to anybody.
func (r *rule) lintNames(issuers []string) []Warning {
	if r.issuers != nil || len(issuers) < 2 || r.effect == denies {
		return nil
	}
	for _, d := range r.conditions {
		if d.names == nil {
			continue
		}
		if names := d.names(r); names != "" {
			return []Warning{{r.name, fmt.Sprintf("it names %s but no issuers, "+
				"so the same names from any of %d issuers match", names, len(issuers))}}
		}
	}
	return nil
}

// within reports whether all of a are in b.
func within(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return true
}

// intersect reports whether any of a is in b.
func intersect(a, b []string) bool {
	for _, s := range a {
		if slices.Contains(b, s) {
			return true
		}
	}
	return false
}
