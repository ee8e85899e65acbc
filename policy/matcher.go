package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/expr"
)

// maxMatch is how many match rules an agent may have: a call may ask all of them.
const maxMatch = 64

// Matcher is an agent's match rules, compiled. It is immutable; a nil one finds nothing.
type Matcher struct {
	entries []matchEntry
	reads   bool
}

type matchEntry struct {
	skill string
	when  *expr.Program
}

// NewMatcher compiles an agent's match rules, in their order; nil for none. Errors name
// entry, line and column.
func NewMatcher(rules []MatchRule) (*Matcher, error) {
	if len(rules) == 0 {
		return nil, nil //nolint:nilnil // no rules, no matcher
	}
	if len(rules) > maxMatch {
		return nil, keypath.Point(fmt.Errorf("match has %d entries; at most %d are asked", len(rules), maxMatch), "match")
	}
	env, err := expr.New()
	if err != nil {
		return nil, err
	}
	m := &Matcher{}
	var errs []error
	for i, r := range rules {
		if r.Skill == "" {
			errs = append(errs, keypath.Point(fmt.Errorf("match[%d].skill is missing", i), "match", i, "skill"))
		}
		when, problems := env.Compile(r.When)
		if problems == nil {
			problems = pointless(when, i == len(rules)-1)
		}
		for _, p := range problems {
			errs = append(errs, keypath.At(errors.New(p), "match", i, "when"))
		}
		m.entries = append(m.entries, matchEntry{r.Skill, when})
		m.reads = m.reads || when != nil && when.Reads()
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return m, nil
}

// pointless reports an entry that nothing or, before the end, everything matches. The
// last one may well be for whatever is left.
func pointless(when *expr.Program, last bool) []string {
	switch value, known := when.Constant(); {
	case known && !value:
		return []string{"it is never true"}
	case known && !last:
		return []string{"it is always true, so the entries after it are never asked"}
	}
	return nil
}

// Reads reports whether the entries look at the message: otherwise Request.Message may
// be left out of SkillSource.Call.
func (m *Matcher) Reads() bool { return m != nil && m.reads }

// asked reports whether a method's calls are matched: those that start work. Calls on a
// task are for the skill that is recorded for it, and the others are for none.
func (m *Matcher) asked(method *wire.Method) bool {
	return m != nil && (method == nil || method.Subject == wire.OfMessage)
}

// find returns the place of the first entry that is true of a call, -1 if none is. The
// error says why that cannot be known; it is for the record.
func (m *Matcher) find(q *Request) (int, error) {
	if q == nil || q.Principal == nil || q.Method == nil {
		return -1, errors.New("match: the call is not known")
	}
	vars := variables(q)
	for i, entry := range m.entries {
		switch ok, err := entry.when.Evaluate(vars); {
		// An entry that cannot be evaluated might have been the one: the next must not take the call.
		case err != nil:
			return -1, fmt.Errorf("match[%d]: %w", i, err)
		case ok:
			return i, nil
		}
	}
	return -1, nil
}

// matched is the skill that the agent's match rules find, "" for none. reason says why
// there can be none.
func (src SkillSource) matched() (skill, reason string) {
	if !src.Match.asked(src.Method) {
		return "", ""
	}
	i, err := src.Match.find(src.Call)
	switch {
	case err != nil:
		return "", err.Error()
	case i < 0:
		return "", ""
	}
	skill = src.Match.entries[i].skill
	if !slices.Contains(src.All, skill) {
		return "", fmt.Sprintf("match[%d]: the agent has no skill %q", i, skill)
	}
	return skill, ""
}

// matchedBy names the entry that found a skill, "" if none did.
func (src SkillSource) matchedBy(skill string) string {
	if !src.Match.asked(src.Method) {
		return ""
	}
	if i, err := src.Match.find(src.Call); err == nil && i >= 0 && src.Match.entries[i].skill == skill {
		return fmt.Sprintf("match[%d] of the agent", i)
	}
	return ""
}

// Reads reports whether judging calls on an agent takes their messages: otherwise
// Request.Message may be left out.
func (s *Set) Reads(agent string) bool {
	return slices.ContainsFunc(s.agents[agent], func(b *bucket) bool { return b.reads })
}

// reads reports whether the rule looks at the message.
func (r *rule) reads() bool {
	return slices.ContainsFunc(r.checks.all, func(d *condition) bool { return d.reads != nil && d.reads(r) })
}
