package policy

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Denied is the only error of Check and Resolve.
type Denied struct {
	Rule   string // the deny rule, or "default", "credential", "undeclared"
	Reason string // for the log and the audit record; names skills and rules, so not for the caller

	// Scopes are what the caller lacks, when an allow rule fails on nothing else.
	// They may be told to the caller (RFC 6750 §3.1, insufficient_scope) if Visible.
	Scopes []string

	// StepUp is what the caller's authentication lacks, when an allow rule fails on
	// nothing else but it and Scopes. It may be told to the caller if Visible.
	StepUp *StepUp

	// Visible says that some other call on the agent is allowed, so that the caller
	// may learn that it exists. Otherwise the answer must be that of an agent that
	// does not.
	Visible bool
}

// Error is for the log.
func (d *Denied) Error() string { return "denied by " + d.Rule + ": " + d.Reason }

// denied says why a call that decide refused was refused. by is the deny rule,
// nil when nothing allowed the call.
func (s *Set) denied(q *Request, n *need, hits []*rule, by *rule) *Denied {
	d := &Denied{Rule: byDefault, Visible: s.Sees(q.Principal, q.Agent)}
	switch {
	case by != nil:
		d.Rule = by.name
		d.Reason = "a deny rule matches"
	case n.level == unsettled:
		d.Rule = byUndeclared
		d.Reason = "the call does not say which skill it is for"
	default:
		candidates := s.unscoped(q.Principal, q.Agent, s.bit(q.Method))
		d.Reason = lacking(q, n, hits, candidates)
		d.Scopes, d.StepUp = missing(q, n, hits, candidates)
	}
	return d
}

// lacking names the first skill that no rule allows, and the rule that would if the
// caller did something for it.
func lacking(q *Request, n *need, hits, candidates []*rule) string {
	for i := range n.count() {
		skill := n.skill(i)
		if first(hits, n.level, skill, allows) != nil {
			continue
		}
		text := "no rule allows the call"
		if n.level == bySkill {
			text = fmt.Sprintf("no rule allows skill %q", skill)
		}
		if r := first(candidates, n.level, skill, allows); r != nil {
			if key := r.unmet(q); key != "" {
				text += fmt.Sprintf("; rule %q would, but for %s", r.name, key)
			}
		}
		return text
	}
	return "no rule allows the call"
}

// missing lists the scopes, and says the authentication, that would turn the refusal
// into a yes. If one of the needed skills would stay refused whatever the caller gets,
// there are none: a caller must not be sent for a consent that does not help. A consent
// that is a claim is nothing that a scope or a sign-in is known to bring, and neither is
// another place, time or content.
func missing(q *Request, n *need, hits, candidates []*rule) ([]string, *StepUp) {
	candidates = slices.DeleteFunc(candidates, func(r *rule) bool {
		return r.circumstances.failed(q) != "" || r.terms != nil && r.terms.consent.lacks(q.Principal) == "consent.claim"
	})
	var (
		scopes []string
		step   StepUp
		lacks  bool
	)
	for i := range n.count() {
		r := first(hits, n.level, n.skill(i), allows)
		if r == nil {
			r = first(candidates, n.level, n.skill(i), allows)
		}
		if r == nil {
			return nil, nil
		}
		scopes = appendMissing(scopes, r.scopes, q.Principal)
		if r.terms == nil {
			continue
		}
		if c := r.terms.consent; c != nil && c.scope != "" {
			scopes = appendMissing(scopes, []string{c.scope}, q.Principal)
		}
		// Those that hold are asked for again: a new authentication must not lose them.
		if !step.add(r.terms.authentication) {
			return nil, nil
		}
		lacks = lacks || r.terms.authentication.lacks(q.Principal, q.Now) != ""
	}
	if !lacks {
		return scopes, nil
	}
	return scopes, &step
}

func appendMissing(scopes, needed []string, p *authn.Principal) []string {
	for _, scope := range needed {
		if !slices.Contains(p.Scopes, scope) && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}
