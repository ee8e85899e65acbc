package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/policy/expr"
)

// maxFaults is how many rules Decision.Faults names.
const maxFaults = 16

// onExpr is the condition that is an expression over the call. It is evaluated at most once
// for a call, of rules of which all else holds: see verdicts.
var onExpr = condition{
	key: "expr", about: ofCall, holds: "the [expression](#expressions) is true",
	compile: func(c *compiler, r *rule) []error {
		for _, err := range c.expression(r) {
			c.late = append(c.late, r.wrong(keypath.At(err, "expr")))
		}
		return nil
	},
	has: func(r *rule) bool { return r.call.expr != nil },
	traced: func(_ *Set, r *rule, q *Request, n *need) string {
		return unless(n.exprs.holds(r, q), "expr")
	},
	// Whether one expression implies another cannot be told, but for the same text.
	covers: func(r, other *rule) bool { return r.source.Expr == other.source.Expr },
	reads:  func(r *rule) bool { return r.call.expr.Reads() },
	asks:   func(src *Rule) Facts { return factsOf(src.Expr) },
}

// expression compiles the expression of a rule, where it has one, and describes what is wrong.
func (c *compiler) expression(r *rule) []error {
	if r.source.Expr == "" {
		return nil
	}
	// Making one takes a moment, and most configurations have no expression.
	if c.env == nil {
		env, err := expr.New()
		if err != nil {
			return []error{err}
		}
		c.env = env
	}
	program, problems := c.env.Compile(r.source.Expr)
	if program != nil {
		if value, known := program.Constant(); known && !value {
			problems = []string{"it is never true, so the rule can never match"}
		}
	}
	r.call.expr = program
	var wrong []error
	for _, p := range problems {
		wrong = append(wrong, errors.New(p))
	}
	return wrong
}

// vacuous says that an expression is no condition, or "".
func (r *rule) vacuous() string {
	if r.call.expr == nil {
		return ""
	}
	if value, known := r.call.expr.Constant(); known && value {
		return "its expr is always true; leave it out"
	}
	return ""
}

// verdicts are what the expressions of rules say of one call, each asked at most once.
// The zero value has asked none.
type verdicts struct {
	of     []string // the skills of which the call is for one, where that is not known
	vars   *expr.Vars
	known  map[*rule]bool
	faults []string // of the rules whose other conditions hold
}

// keep drops the rules whose expression does not hold, of those whose other conditions do.
func (v *verdicts) keep(hits []*rule, q *Request, n *need) []*rule {
	var asked []*rule
	for _, r := range hits {
		if r.call.expr != nil && n.met(r) {
			asked = append(asked, r)
		}
	}
	slices.SortFunc(asked, func(a, b *rule) int { return cmp.Compare(a.pos, b.pos) })
	for _, r := range slices.Compact(asked) {
		if fault := v.ask(r, q); fault != nil && len(v.faults) < maxFaults {
			v.faults = append(v.faults, fmt.Sprintf("rule %q: %s", r.name, fault))
		}
	}
	return slices.DeleteFunc(hits, func(r *rule) bool { return r.call.expr != nil && !v.known[r] })
}

// ask evaluates the expression of a rule. In doubt a rule that restricts holds and
// another one does not.
func (v *verdicts) ask(r *rule, q *Request) error {
	if v.vars == nil {
		v.vars, v.known = variables(q), map[*rule]bool{}
		switch len(v.of) {
		case 0:
		case 1:
			v.vars.Skill = v.of[0]
		default:
			v.vars.Open = true
		}
	}
	holds, fault := r.call.expr.Evaluate(v.vars)
	v.known[r] = holds || fault != nil && r.restricts()
	return fault
}

// holds reports whether the expression of a rule does, where it has one.
func (v *verdicts) holds(r *rule, q *Request) bool {
	if r.call.expr == nil {
		return true
	}
	if _, known := v.known[r]; !known {
		_ = v.ask(r, q) // the fault of a rule that does not hold anyway is nobody's concern
	}
	return v.known[r]
}

// unmet names what another call, or another sign-in, of the caller's could meet of a rule
// and this one does not; "" for nothing.
func (v *verdicts) unmet(r *rule, q *Request) string {
	if key := r.unmet(q); key != "" {
		return key
	}
	if !v.holds(r, q) {
		return "expr"
	}
	return ""
}

// variables are what expressions can see of a call.
func variables(q *Request) *expr.Vars {
	p := q.Principal
	vars := &expr.Vars{
		Principal: func() *expr.Principal { return principal(p) },
		Agent:     q.Agent, Skill: q.Skill, Method: q.Method.Name,
		Binding: q.Binding.String(), Version: string(q.Version),
		Message: q.Message, Unread: q.unread(),
		Extensions: q.Extensions, Source: q.Source, Now: q.Now,
	}
	if t := q.Task; t != nil {
		task := expr.Task(*t)
		vars.Task = &task
	}
	return vars
}

// principal is what expressions can see of a caller.
func principal(p *authn.Principal) *expr.Principal {
	if p == nil {
		return nil
	}
	q := &expr.Principal{
		Subject: p.Subject, Issuer: p.Issuer, Client: p.Client, Tenant: p.Tenant,
		Groups: p.Groups, Scopes: p.Scopes, Method: p.Method, KeyID: p.KeyID, Owner: p.Owner, Proof: p.Proof,
		ACR: p.ACR, AMR: p.AMR, AuthTime: p.AuthTime, Expires: p.Expires,
		Claims: p.Claims, Workload: principal(p.Workload),
	}
	for _, a := range p.Actors {
		q.Actors = append(q.Actors, expr.Actor(a))
	}
	return q
}
