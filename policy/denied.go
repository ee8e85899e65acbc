package policy

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Denied is the only error of Check and Resolve.
type Denied struct {
	Rule   string // the deny rule, or "default", "credential", "undeclared"
	Reason string // for the log and the audit record; names skills, so not for the caller

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
		d.Reason = s.lacking(n, hits)
		d.Scopes = s.missing(q, n, hits)
	}
	return d
}

// lacking names the first skill that no rule allows.
func (s *Set) lacking(n *need, hits []*rule) string {
	for i := range n.count() {
		skill := n.skill(i)
		if first(hits, n.level, skill, allows) == nil && n.level == bySkill {
			return fmt.Sprintf("no rule allows skill %q", skill)
		}
	}
	return "no rule allows the call"
}

// missing lists the scopes that would turn the refusal into a yes. If one of the
// needed skills would stay refused whatever the scopes, there are none: a caller
// must not be sent for a consent that does not help.
func (s *Set) missing(q *Request, n *need, hits []*rule) []string {
	candidates := s.unscoped(q.Principal, q.Agent, s.bit(q.Method))
	var scopes []string
	for i := range n.count() {
		skill := n.skill(i)
		if first(hits, n.level, skill, allows) != nil {
			continue
		}
		r := first(candidates, n.level, skill, allows)
		if r == nil {
			return nil
		}
		scopes = appendMissing(scopes, r, q.Principal)
	}
	return scopes
}

func appendMissing(scopes []string, r *rule, p *authn.Principal) []string {
	for _, scope := range r.scopes {
		if !slices.Contains(p.Scopes, scope) && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}
