package policy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// rule is a Rule, compiled.
type rule struct {
	pos          int // place in the file, from 0
	name         string
	deny, shadow bool
	would        string // "deny NAME" or "allow NAME", for Decision.Shadow

	methods  methods
	agents   patterns
	skills   patterns
	subjects patterns
	issuers  []string // nil: any
	groups   []string // nil: any
	scopes   []string // all needed

	source *Rule // as written, for Lint
}

// methods is a set of operations, one bit per row of the method table.
type methods uint64

// otherMethods is the bit that all methods share that are not in the table, such
// as those that extensions declare. Only a rule without a methods condition has
// it.
const (
	otherMethods methods = 1 << 63
	allMethods   methods = 1<<64 - 1
)

func (s *Set) bit(m *wire.Method) methods {
	if b, ok := s.bits[m]; ok {
		return b
	}
	return otherMethods
}

// identifies reports whether the conditions on who is calling hold, scopes apart.
func (r *rule) identifies(p *authn.Principal) bool {
	return (r.issuers == nil || slices.Contains(r.issuers, p.Issuer)) &&
		r.subjects.match(p.Subject) &&
		(r.groups == nil || intersect(r.groups, p.Groups))
}

// scoped reports whether the principal has every scope that the rule asks for.
func (r *rule) scoped(p *authn.Principal) bool {
	for _, scope := range r.scopes {
		if !slices.Contains(p.Scopes, scope) {
			return false
		}
	}
	return true
}

func intersect(a, b []string) bool {
	for _, s := range a {
		if slices.Contains(b, s) {
			return true
		}
	}
	return false
}
