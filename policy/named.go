package policy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Everywhere reports whether a principal may call a method on every task of an agent,
// whatever skill the task is for and however the call comes, so that nobody has to ask for
// each of many. It may be false where no task would be refused.
func (s *Set) Everywhere(p *authn.Principal, agent string, m *wire.Method) bool {
	buckets, known := s.agents[agent]
	if !known || p == nil || m == nil || !p.MayUse(agent) || s.cardScopes || s.undeclared == denyUndeclared {
		return false
	}
	var room [hitRoom]*rule
	bit := s.ops.bit(m)
	allowed := s.allow
	for _, r := range gather(room[:0], buckets, p, bit, &need{level: withoutSkill}) {
		allowed = allowed || r.effect == allows && !r.shadow && r.target.skills.All() && r.lasts()
	}
	if !allowed { // as for a caller with thousands of rules for single skills
		return false
	}
	for _, r := range gather(room[:0], buckets, p, bit, nil) {
		if r.effect == denies && !r.shadow {
			return false
		}
	}
	return true
}

// lasts reports whether what a rule says of a principal's calls is the same for all of them.
func (r *rule) lasts() bool {
	return !r.momentary() && r.checks.ofSignIn == nil
}

// CheckNamed decides whether a call may name a task, q.Task, that it is not about: one that
// its message refers to, or one in its context. An agent may tell what it knows of that, so
// the task has to be one that the caller may read. Who may not because no rule speaks of
// reading, as those who only hand in work, may name what the call itself could be about.
// q.Skill is the task's. The error is a *Denied.
func (s *Set) CheckNamed(q Request, read *wire.Method) error {
	call := q
	q.Method, q.Message = read, nil
	_, err := s.Check(q)
	var denied *Denied
	if !errors.As(err, &denied) || denied.Rule != byDefault {
		return err
	}
	if _, e := s.Check(call); e == nil {
		return nil
	}
	return err
}
