package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// SkillSource is everything that may say which skill a call is for, in the order
// in which it is believed. No A2A field names a skill, so each is a convention.
type SkillSource struct {
	Path      string   // the {skill} of /agents/{agent}/skills/{skill}
	Task      string   // what the ledger recorded for the task the call names
	Extension string   // what the registry says that the extension's method needs
	Declared  string   // wire.Call.Skill: the skill-selection metadata
	All       []string // every skill of the agent; nil when it has none

	// Match finds the skill of a call that starts work and names none; nil for no such
	// rules. Call is what it looks at.
	Match *Matcher
	Call  *Request

	// Method decides what it means that nobody said: listing tasks and reading the
	// extended card are about no skill. Nil counts as sending a message.
	Method *wire.Method

	// Principal and Agent fill in Denied.Visible. Left out, a refusal looks like an
	// agent that does not exist.
	Principal *authn.Principal
	Agent     string
}

// Resolve settles the skill of a call, for Request.Skill and Request.Agentwide.
// Both results are empty when the skill stays unknown and all of the agent's
// skills have to be allowed.
//
// The error is a *Denied: the sources contradict each other, a skill is named or matched
// that the agent does not have, a match rule could not be evaluated, or no skill is
// found and `undeclared` is "deny". A skill
// that is recorded for a task counts even when the card no longer lists it, and so
// does one that the registry gives an extension's method: the operator said it.
func (s *Set) Resolve(src SkillSource) (skill string, agentwide bool, err error) {
	// What callers write themselves has to be a skill of the agent; what the gateway recorded or
	// the operator wrote need not be on the card any more.
	for _, named := range []string{src.Path, src.Declared} {
		if named != "" && !slices.Contains(src.All, named) {
			return "", false, s.unsettledSkill(src, fmt.Sprintf("the agent has no skill %q", named))
		}
	}
	for _, named := range []string{src.Path, src.Task, src.Extension, src.Declared} {
		switch {
		case named == "" || named == skill:
		case skill == "":
			skill = named
		default:
			return "", false, s.unsettledSkill(src,
				fmt.Sprintf("the call is for skill %q and for skill %q", skill, named))
		}
	}
	if skill != "" {
		return skill, false, nil
	}
	matched, reason := src.matched()
	switch {
	case reason != "":
		return "", false, s.unsettledSkill(src, reason)
	case src.Method != nil && wide(src.Method):
		return "", true, nil
	case matched != "":
		return matched, false, nil
	case len(src.All) == 1:
		return src.All[0], false, nil
	case s.undeclared == denyUndeclared:
		return "", false, s.unsettledSkill(src, "the call does not say which skill it is for")
	}
	return "", s.undeclared == byAgent || len(src.All) == 0, nil
}

// unsettledSkill is the refusal of a call whose skill cannot be settled. It tells no more than
// rules do of an agent that the caller may not see.
func (s *Set) unsettledSkill(src SkillSource, reason string) *Denied {
	return &Denied{Rule: byUndeclared, Reason: reason, Visible: s.Sees(src.Principal, src.Agent)}
}

// Reading says in words how Resolve settles the skill of a call, or why it cannot. It
// is for people, as Trace is.
func (s *Set) Reading(src SkillSource) string {
	skill, agentwide, err := s.Resolve(src)
	var denied *Denied
	switch {
	case errors.As(err, &denied):
		return denied.Reason
	case skill != "":
		return src.said(skill)
	case src.Method != nil && wide(src.Method):
		return "the method is about no skill: an allow rule about any skill is enough"
	case len(src.All) == 0:
		return "the agent has no skills: only rules without a skills condition are asked"
	case agentwide:
		return "the call does not say: only rules without a skills condition are asked (policy.skills.undeclared: agent)"
	}
	word, option := "each", "require-all"
	if s.undeclared == requireAny {
		word, option = "any", "require-any"
	}
	return fmt.Sprintf("the call does not say: %s of %s must be allowed (policy.skills.undeclared: %s)",
		word, strings.Join(src.All, ", "), option)
}

// said tells who named the skill, the most trusted first.
func (src SkillSource) said(skill string) string {
	switch skill {
	case src.Path:
		return "named by the path"
	case src.Task:
		return "recorded for the task"
	case src.Extension:
		return "the registry says that the method needs it"
	case src.Declared:
		return "named by metadata"
	}
	if entry := src.matchedBy(skill); entry != "" {
		return "found by " + entry
	}
	return "the only skill of the agent"
}
