package policy

import (
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/policy/content"
	"github.com/a2a-gateway/a2a-gateway/policy/expr"
	"github.com/a2a-gateway/a2a-gateway/policy/netset"
	"github.com/a2a-gateway/a2a-gateway/policy/window"
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

	checks checks
	target targetTerms
	caller callerTerms
	call   callTerms
	signIn signInTerms

	approval *approval.Rule // what a rule with effect approve asks for; else nil

	source *Rule // as written, for Lint
}

// checks are the conditions that a rule has, and of those that are asked by calling a function,
// the functions. They are kept apart by what is handed to them: see condition.
type checks struct {
	all      []*condition // in the order of the table
	ofCaller []func(*rule, *authn.Principal) string
	ofCall   []func(*rule, circumstances) string
	ofSignIn []func(*rule, *authn.Principal, time.Time) string
}

// targetTerms are what the conditions on what is called are compiled to. Those of this and the next
// three types are read by their descriptors, and by whatever finds rules faster than by asking
// all of them. They are structs in the rule, not behind pointers: reading a field costs what it
// would cost in the rule itself.
type targetTerms struct {
	methods methods
	agents  pattern.List
	skills  pattern.List
}

// callerTerms are what the conditions on who calls are compiled to.
type callerTerms struct {
	subjects pattern.List
	issuers  []string      // nil: any
	groups   []string      // nil: any
	scopes   []string      // all needed
	clients  *pattern.List // nil: any
	actors   *actors       // nil: any
	claims   []claim       // in the order of their names
}

// callTerms are what the conditions on the circumstances of a call are compiled to.
type callTerms struct {
	bindings bindings        // 0: any
	sources  netset.Set      // nil: any
	times    []window.Window // nil: any
	content  *content.Bounds // nil: any
	expr     *expr.Program   // nil: none
}

// signInTerms are what the conditions on what a user can obtain by signing in again are compiled to.
type signInTerms struct {
	authentication *Authentication // nil: none is asked for
	consent        *consent        // nil: none is asked for
}

// effect is Rule.Effect, compiled.
type effect uint8

const (
	silent effect = iota // decides nothing about the call, only about its extensions
	allows
	denies
	approves // has a call that other rules allow wait until people agree to it
)

// effects are the words for them. Other words are reported before they get here.
var effects = map[string]effect{"allow": allows, "deny": denies, "approve": approves}

// identifies reports whether the conditions on who is calling hold, apart from scopes.
func (r *rule) identifies(p *authn.Principal) bool {
	return (r.caller.issuers == nil || slices.Contains(r.caller.issuers, p.Issuer)) &&
		r.caller.subjects.Match(p.Subject) &&
		(r.caller.groups == nil || pattern.Intersect(r.caller.groups, p.Groups)) &&
		(r.checks.ofCaller == nil || r.describes(p))
}

// describes asks the conditions on the caller that few rules have.
func (r *rule) describes(p *authn.Principal) bool {
	for _, failed := range r.checks.ofCaller {
		if failed(r, p) != "" {
			return false
		}
	}
	return true
}

// scoped reports whether the principal has every scope that the rule asks for.
func (r *rule) scoped(p *authn.Principal) bool {
	return pattern.Within(r.caller.scopes, p.Scopes)
}

// momentary reports whether the rule has conditions on the call itself. They are another
// matter with every call, so that what a caller may see (Sees, Skills, Extensions) is judged
// as with authentication: an allow rule counts as if they held, and a deny rule as if they did
// not. Who may call in the morning still sees the agent in the evening, and is then refused.
func (r *rule) momentary() bool { return r.checks.ofCall != nil || r.call.expr != nil }

// over reports whether the rule can be about calls over a binding; 0 is any.
func (r *rule) over(b wire.Binding) bool {
	return b == 0 || r.call.bindings == 0 || r.call.bindings&(1<<b) != 0
}

// momentaryOver is momentary for calls over a binding, which are over the same with every call; 0 is
// any.
func (r *rule) momentaryOver(b wire.Binding) bool {
	if b == 0 || r.call.bindings == 0 {
		return r.momentary()
	}
	return len(r.checks.ofCall) > 1 || r.call.expr != nil
}

// unmet names the first condition of r that does not hold, of those that another call,
// or another sign-in, of the same caller can meet; "" when all do. What the caller can do
// something about comes last.
func (r *rule) unmet(q *Request) string {
	if key := r.unmetByCall(q.circumstances()); key != "" {
		return key
	}
	return r.unmetBySignIn(q)
}

// unmetByCall is unmet for what another call can meet.
func (r *rule) unmetByCall(c circumstances) string {
	for _, failed := range r.checks.ofCall {
		if key := failed(r, c); key != "" {
			return key
		}
	}
	return ""
}

// unmetBySignIn is unmet for what another sign-in can meet.
func (r *rule) unmetBySignIn(q *Request) string {
	if r.checks.ofSignIn == nil {
		return ""
	}
	begun := q.begun()
	for _, failed := range r.checks.ofSignIn {
		if key := failed(r, q.Principal, begun); key != "" {
			return key
		}
	}
	return ""
}

// restricts reports whether the rule takes from what others allow: it holds where it might.
func (r *rule) restricts() bool { return r.effect == denies || r.effect == approves }

// inDoubt is the answer of a condition about what is not known of a call: an allow rule does
// not hold where it might not, one that restricts does where it might.
func (r *rule) inDoubt(key string) string { return unless(r.restricts(), key) }

// holding keeps the rules that hold for a call, of those that gather found. Whether a
// rule is about a skill that is needed is asked first, being the cheapest.
func holding(hits []*rule, q *Request, n *need) []*rule {
	c := q.circumstances()
	return slices.DeleteFunc(hits, func(r *rule) bool {
		return (r.checks.ofCall != nil || r.checks.ofSignIn != nil) &&
			(!n.met(r) || r.unmetByCall(c) != "" || r.unmetBySignIn(q) != "")
	})
}
