package policy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/expr"
)

// rule is a Rule, compiled.
type rule struct {
	pos    int // place in the file, from 0
	name   string
	effect effect
	shadow bool
	would  string      // "deny NAME" or "allow NAME", for Decision.Shadow
	says   *Extensions // about extensions; nil for nothing
	shows  *Extensions // of it, what cards tell; nil for nothing

	methods  methods
	agents   patterns
	skills   patterns
	subjects patterns
	issuers  []string // nil: any
	groups   []string // nil: any
	scopes   []string // all needed
	terms    *terms   // nil: none

	circumstances *circumstances // nil: none
	expr          *expr.Program  // nil: none

	source *Rule // as written, for Lint
}

// effect is Rule.Effect, compiled.
type effect uint8

const (
	silent effect = iota // decides nothing about the call, only about its extensions
	allows
	denies
)

// effects are the words for them. Other words are reported before they get here.
var effects = map[string]effect{"allow": allows, "deny": denies}

// methods is a set of operations, one bit per row of the method table and per
// method of an extension.
type methods uint64

// otherMethods is the bit that all methods share that the set was not compiled
// with. Only a rule without a methods condition has it.
const (
	otherMethods methods = 1 << 63
	allMethods   methods = 1<<64 - 1
)

// maxExtra is how many methods of extensions there may be: with A2A's own they have
// to fit below otherMethods.
const maxExtra = 50

func (s *Set) bit(m *wire.Method) methods {
	if b, ok := s.bits[m]; ok {
		return b
	}
	return otherMethods
}

// identifies reports whether the conditions on who is calling hold, apart from scopes
// and what terms.unready is about.
func (r *rule) identifies(p *authn.Principal) bool {
	return (r.issuers == nil || slices.Contains(r.issuers, p.Issuer)) &&
		r.subjects.match(p.Subject) &&
		(r.groups == nil || intersect(r.groups, p.Groups)) &&
		(r.terms == nil || r.terms.failed(p) == "")
}

// scoped reports whether the principal has every scope that the rule asks for.
func (r *rule) scoped(p *authn.Principal) bool {
	return within(r.scopes, p.Scopes)
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

func intersect(a, b []string) bool {
	for _, s := range a {
		if slices.Contains(b, s) {
			return true
		}
	}
	return false
}
