package policy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Conditions are those of a rule by themselves: what else is configured for some calls has them too.
// They are immutable, and safe for concurrent use.
type Conditions struct {
	set *Set
	of  *rule
}

// NewConditions compiles the conditions of a rule, of which nothing else counts, for the agents and
// extensions' methods that there are. They count as those of a deny rule: in doubt they hold. Errors
// have the path of their key within the rule.
func NewConditions(src Rule, agents []string, extra ...*wire.Method) (*Conditions, error) {
	s := &Set{ids: sortedIDs(agents), ops: operations{}}
	names, err := s.ops.number(extra)
	src.Effect = "deny"
	r := &rule{name: src.Name, effect: denies, source: &src}
	c := compiler{Set: s, methods: names}
	problems := append([]error{err}, c.conditions(r)...)
	if c.late != nil { // which are told of as those of a rule
		for _, err := range c.expression(r) {
			problems = append(problems, keypath.At(err, onExpr.key))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Conditions{s, r}, nil
}

// About reports whether they can hold for calls on an agent.
func (c *Conditions) About(agent string) bool { return c.of.target.agents.Match(agent) }

// Reads reports whether they look at the message of a call.
func (c *Conditions) Reads() bool { return c.of.reads() }

// Never says why they hold for no call at all, "" where they may.
func (c *Conditions) Never() string {
	for _, d := range c.of.checks.all {
		if d.dead == nil {
			continue
		}
		if text := d.dead(c.set, c.of); text != "" {
			return text
		}
	}
	return ""
}

// Failed names the first of them that does not hold for a call; "" where all do. A call that is for
// no skill in particular, such as a list of tasks, is for any.
func (c *Conditions) Failed(q Request) string {
	n := c.set.need(&q)
	for _, d := range c.of.checks.all {
		if d == &onSkills {
			if (n.level == bySkill || n.level == anySkill) && !n.met(c.of) {
				return d.key
			}
			continue
		}
		if key := d.fails(c.set, c.of, &q, &n); key != "" {
			return key
		}
	}
	return ""
}
