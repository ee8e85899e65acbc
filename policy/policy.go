// Package policy answers one question: may this principal make this call? That is authorization,
// by rules about attributes of caller and call (ABAC). It is
// a pure function of a compiled rule set and a Request.
//
// It owns the rules, their compilation, the decision, and how the skill of a call
// is found (resolve.go). It does not own identity (authn), who a task belongs to
// (policy/ledger), rates (policy/limits) or what a refusal looks like on the wire
// (proxy): it does no I/O, reads no clock and writes no log. It may import authn
// and internal/wire.
//
// Rules have no order of their own. A deny rule that matches wins, then an allow
// rule, then the default, which is deny. Conditions of one rule must all hold; a
// condition that is left out always does. What matching rules say about extensions
// is handed on, for package ext to weigh. What a condition is, from its key to its
// documentation, stands in its descriptor (condition.go).
//
// A Set is asked in three ways. Check decides one call. Sees, Skills, Extensions and
// Everywhere say what a caller could do, for cards, the catalog and lists, where no
// particular call is asked about. Trace and Reading say why, for people.
//
// It exports more than twenty names because half of them are the types of the configuration,
// which programs that embed the gateway write as well.
package policy

import (
	"net/netip"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
)

// Set is a compiled Config. It is immutable; any number of goroutines may ask it.
type Set struct {
	allow             bool // what the default is
	hasExtensionRules bool // some rule says something about extensions
	hasStepUp         bool // some rule asks for an authentication or a consent
	hasConditions     bool // some rule that gather finds may not hold for a call: see rule.unmet
	exprs             bool // some rule has an expression
	approves          bool // some rule has calls wait for people who agree
	undeclared        undeclared
	cardScopes        bool    // skills.scopes: card
	rules             []*rule // in the order of the file, for Trace and Lint
	ops               operations
	agents            map[string][]*bucket
	ids               agentIDs
	sharing           sharing
}

// Request is one call as policy sees it.
type Request struct {
	Principal *authn.Principal
	Agent     string // configured agent id
	Method    *wire.Method

	// Skill is what the call is for, as Resolve found it; "" when it is not known
	// which. Skills are then all of the agent's, and every one must be allowed.
	Skill  string
	Skills []string

	// Agentwide says that no skill is involved: only rules without a skills
	// condition decide. Methods that are about the caller or the agent as a whole
	// are always judged agentwide, by the rule in needs. A Skill counts for more.
	Agentwide bool

	// Now is the time that rules are asked about: when the call came, or when somebody
	// looks at a stream again.
	Now time.Time

	// Begun is when a stream that is looked at again began: how old an authentication may
	// be is counted from then. Zero is Now.
	Begun time.Time

	// What Scopes of the skills' own say, by skill: alternatives, each a list of scopes
	// that go together. Nil where policy.skills.scopes is off.
	SkillScopes map[string][][]string

	// The rest is for rules that ask for it; see Reads. Where a method brings a message
	// and there is none here, what rules say of it cannot be told: as when a stream that
	// was opened without is looked at again by rules that read it.
	Message    *wire.Message // nil for none
	Binding    wire.Binding
	Version    wire.Version
	Extensions []string   // that the caller asks for
	Task       *Task      // that the call names; nil for none
	Source     netip.Addr // of the caller; the zero Addr when it is not known
}

// begun is when the call came.
func (q *Request) begun() time.Time {
	if q.Begun.IsZero() {
		return q.Now
	}
	return q.Begun
}

// Task is what is recorded of a task.
type Task struct {
	ID, ContextID, Skill  string
	Owner, Issuer, Tenant string // whose it is: subject, issuer and tenant
	Created               time.Time
}

// Decision is what the audit record keeps of an answer, yes or no.
type Decision struct {
	Rule   string   // the rule that decided, or one of the reserved names below
	Skill  string   // Request.Skill
	Shadow []string // what shadow rules would have done: "deny NAME", "allow NAME"

	// Consent lists the consents that the deciding rules asked for and found: "scope S",
	// "claim C", "claim C=V".
	Consent []string

	// Skills are those that a call of an unknown skill is allowed for, where one is enough
	// (require-any); else nil. The agent has to be told.
	Skills []string

	// Approvals are what people have to agree to before the call goes to the agent, in the order of
	// the file; nil for nothing. The first one's rule is then the one that decided.
	Approvals []*approval.Rule

	// Faults say which rules' expressions could not be evaluated, and why.
	Faults []string

	// Extensions are what the rules say about extensions whose conditions hold for
	// the call, in the order of the file; nil when it is refused.
	Extensions []Extensions
}

// Those of Undecided. Rules cannot take them.
const (
	byDefault    = "default"      // no rule matched
	byCredential = "credential"   // the credential is bound to other agents
	byUndeclared = "undeclared"   // the skill could not be settled
	byScopes     = "skill-scopes" // rules allow it; the card asks for scopes that the caller lacks
)

// Undecided are the names that stand in Decision.Rule and Denied.Rule where no rule decided.
func Undecided() []string { return []string{byDefault, byCredential, byUndeclared, byScopes} }

// Check decides a call. The error is a *Denied; the Decision is filled in either
// way. The most common call costs no allocation.
func (s *Set) Check(q Request) (Decision, error) {
	if q.Principal == nil || q.Method == nil {
		return Decision{Rule: byDefault}, &Denied{Rule: byDefault, Reason: "the call has no principal or method"}
	}
	buckets, known := s.agents[q.Agent]
	if !known { // whatever the default: nothing can be allowed on what does not exist
		return Decision{Rule: byDefault, Skill: q.Skill}, &Denied{Rule: byDefault, Reason: "no such agent"}
	}
	// A credential bound to agents is a bound on what any rule can give.
	if !q.Principal.MayUse(q.Agent) {
		return Decision{Rule: byCredential, Skill: q.Skill},
			&Denied{Rule: byCredential, Reason: "the credential is not valid for this agent"}
	}
	// On the stack: most calls are decided without an allocation.
	var room [hitRoom]*rule
	n := s.need(&q)
	hits := gather(room[:0], buckets, q.Principal, s.ops.bit(q.Method), &n)
	// Two passes: what is about the caller is found by the index, and what is about this call is
	// asked of the few rules that are left.
	if s.hasConditions {
		hits = holding(hits, &q, &n)
	}
	// Expressions come last, as they cost the most.
	if s.exprs {
		hits = n.exprs.keep(hits, &q, &n)
	}
	v := s.decide(&q, hits, &n)
	d := Decision{
		Rule: byDefault, Skill: q.Skill, Shadow: shadows(hits, &n), Skills: v.skills, Faults: n.exprs.faults,
	}
	if v.by != nil {
		d.Rule = v.by.name
	}
	if !v.ok {
		denied := s.denied(&q, &n, hits, &v)
		d.Rule = denied.Rule
		return d, denied
	}
	if n.level == anySkill { // what is said about the others is not about this call
		n.all = v.skills
	}
	if s.approves {
		if d.Approvals = approvals(hits, &n); d.Approvals != nil {
			d.Rule = d.Approvals[0].Name
		}
	}
	if s.hasExtensionRules {
		d.Extensions = said(hits, &n, spoken)
	}
	if s.hasStepUp {
		d.Consent = consents(hits, &n)
	}
	return d, nil
}

// first finds the enforced rule of an effect that stands first in the file.
func first(hits []*rule, l level, skill string, e effect) *rule {
	var found *rule
	for _, r := range hits {
		if r.effect == e && !r.shadow && (found == nil || r.pos < found.pos) && l.met(r, skill) {
			found = r
		}
	}
	return found
}

// consents lists what the rules that allow a call found to be agreed to, each once.
func consents(hits []*rule, n *need) []string {
	var list []string
	for i := range n.count() {
		r := first(hits, n.level, n.skill(i), allows)
		if r == nil || r.signIn.consent == nil {
			continue
		}
		if label := r.signIn.consent.label; !slices.Contains(list, label) {
			list = append(list, label)
		}
	}
	return list
}

// shadows lists the shadow rules that match, each once.
func shadows(hits []*rule, n *need) []string {
	var list []string
	last := -1
	for {
		var next *rule
		for _, r := range hits {
			if r.shadow && r.effect != silent && r.pos > last && (next == nil || r.pos < next.pos) && n.met(r) {
				next = r
			}
		}
		if next == nil {
			return list
		}
		list = append(list, next.would)
		last = next.pos
	}
}
