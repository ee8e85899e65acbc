package policy

import (
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/policy/expr"
)

// condition is all that is known of one condition of rules: how it is read, when it holds,
// which rules it makes superfluous, and what the documentation says of it. A condition is
// added by a field of Rule, a descriptor beside its code, and a line in conditions;
// TestConditions tells what is missing.
//
// A rule that does not have a condition is never asked about it.
type condition struct {
	key      string  // in the configuration; step.Failed is this, or begins with it and a dot
	about    subject // what the condition looks at
	holds    string  // when it does, in docs/policy.md
	patterns string  // which of its values may have a *, in docs/policy.md

	// compile reads the condition from r.source into r, and says what is wrong with it. It is
	// called for every rule.
	compile func(c *compiler, r *rule) []error
	// has reports whether a compiled rule has the condition: one that holds for everything
	// is none.
	has func(r *rule) bool

	// Exactly one of these says whether the condition holds: it returns the key that does
	// not, "" where it does. The first three are asked while a call is decided. None is given
	// the Request, since a pointer that is handed to a function value would move it to the
	// heap, and a copy for each condition would cost more than most conditions do. traced is
	// asked by Trace only: of conditions that the index and pick ask themselves, without the
	// call of a function, and of the expression, which is evaluated by need.
	caller func(r *rule, p *authn.Principal) string
	call   func(r *rule, c circumstances) string
	signIn func(r *rule, p *authn.Principal, begun time.Time) string
	traced func(s *Set, r *rule, q *Request, n *need) string

	// covers reports whether the condition of r holds for every call for which that of other
	// does. It may say no where it cannot tell.
	covers func(r, other *rule) bool

	// What follows is nil where there is nothing to it.

	// stops reports whether a deny rule with the condition denies all that an allow rule
	// which it covers allows. Nil is yes.
	stops func(ops operations, r, other *rule) bool
	// dead says why a rule with the condition never matches, "" where it may.
	dead func(s *Set, r *rule) string
	// lint compares the condition with what is known only while the gateway runs.
	lint func(s *Set, r *rule, k Known) []warning
	// names says what the condition knows callers by that means little without an issuer;
	// "" for nothing.
	names func(r *rule) string
	// reads reports whether the condition looks at the message of the call.
	reads func(r *rule) bool
	// obtain returns d with what a caller has to obtain for the condition to hold, and false
	// where nothing that a caller can obtain is known to help. For those about the sign-in.
	obtain func(r *rule, p *authn.Principal, begun time.Time, d demand) (demand, bool)
	// asks says which facts the condition needs that audit records do not have.
	asks func(src *Rule) Facts
}

// subject is what a condition is about. It decides how the condition counts where no
// particular call is asked about, as for cards and catalogs (docs/policy.md, Authorization errors).
type subject uint8

const (
	ofTarget subject = iota // what is called: agent, skill, method
	ofCaller                // who calls: the same for all calls with a credential
	ofCall                  // how, whence and when a call came, and what it brings
	ofSignIn                // what a caller can obtain by signing in again
)

// conditions are all of them, in the order in which they are asked: the first that does not
// hold is what Trace names. What another call could meet comes after what the caller is, and
// then what the caller can do something about. The one that costs the most is the last.
var conditions = []*condition{
	&onAgents, &onMethods,
	&onIssuers, &onSubjects, &onGroups, &onClients, &onActors, &onClaims, &onScopes,
	&onSkills,
	&onBindings, &onSources, &onTimes, &onContent,
	&onAuthentication, &onConsent,
	&onExpr,
}

// compiler is a Set that is being compiled.
type compiler struct {
	*Set

	methods map[string]methods // operations, by each name that they have had
	taken   map[string]bool    // names of the rules so far
	env     *expr.Env          // nil until a rule has an expression
	late    []error            // of expressions: they are read after what is wrong with any rule otherwise
}

// conditions compiles the conditions of a rule, and describes what is wrong with them.
func (c *compiler) conditions(r *rule) []error {
	var problems []error
	// Every condition is compiled, since compile also sets what holds for all.
	for _, d := range conditions {
		problems = append(problems, d.compile(c, r)...)
		if !d.has(r) {
			continue
		}
		r.checks.all = append(r.checks.all, d)
		switch {
		case d.caller != nil:
			r.checks.ofCaller = append(r.checks.ofCaller, d.caller)
		case d.call != nil:
			r.checks.ofCall = append(r.checks.ofCall, d.call)
		case d.signIn != nil:
			r.checks.ofSignIn = append(r.checks.ofSignIn, d.signIn)
		}
	}
	return problems
}

// fails names the key of the condition that does not hold for a call; "" where it does.
func (d *condition) fails(s *Set, r *rule, q *Request, n *need) string {
	switch {
	case d.caller != nil:
		return d.caller(r, q.Principal)
	case d.call != nil:
		return d.call(r, q.circumstances())
	case d.signIn != nil:
		return d.signIn(r, q.Principal, q.begun())
	}
	return d.traced(s, r, q, n)
}

// hasAny reports whether the rule has a condition that is about one of the subjects.
func (r *rule) hasAny(about ...subject) bool {
	return slices.ContainsFunc(r.checks.all, func(d *condition) bool { return slices.Contains(about, d.about) })
}

// unless is the key of a condition that does not hold.
func unless(holds bool, key string) string {
	if holds {
		return ""
	}
	return key
}
