package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// warning is about a rule that can be compiled and yet cannot be meant.
type warning struct {
	Rule string // "" when it is about the rules as a whole
	Text string
}

// String is for the log.
func (w warning) String() string {
	if w.Rule == "" {
		return w.Text
	}
	return fmt.Sprintf("rule %q: %s", w.Rule, w.Text)
}

// warnings are what the rules alone give reason for.
func (l *linter) warnings() []warning {
	var list []warning
	s := l.set
	open := false
	for _, r := range s.rules {
		open = open || r.effect == allows && !r.shadow
		if text := l.dead(r); text != "" {
			list = append(list, warning{r.name, text})
		} else if text := l.idle(r); text != "" {
			list = append(list, warning{r.name, text})
		}
		if text := r.vacuous(); text != "" {
			list = append(list, warning{r.name, text})
		}
	}
	list = append(list, s.sharing.warnings(s)...)
	if !s.allow && !open {
		list = append(list, warning{Text: "no rule allows anything and the default is deny: every call is denied"})
	}
	return list
}

// Unused are the agents that no rule lets anybody use while others may be used: they are
// registered, and hardly meant to be closed.
func (s *Set) Unused() []string {
	var ids []string
	for _, id := range s.ids {
		lets := func(r *rule) bool { return r.effect == allows && !r.shadow && r.target.agents.Match(id) }
		if !slices.ContainsFunc(s.rules, lets) {
			ids = append(ids, id)
		}
	}
	if s.allow || len(ids) == len(s.ids) {
		return nil
	}
	return ids
}

// dead says why a rule can never decide anything, or "".
func (l *linter) dead(r *rule) string {
	s := l.set
	// What cannot match at all is told of first, whatever the rule is for.
	for _, d := range r.checks.all {
		if d.dead == nil {
			continue
		}
		if text := d.dead(s, r); text != "" {
			return text
		}
	}
	switch {
	case r.shadow:
		return ""
	case r.effect == allows && overruled(r, l.closed):
		return "a deny rule without other conditions covers its agents, so it can never allow anything"
	case (r.effect == silent || r.effect == approves) && overruled(r, l.closed):
		return "a deny rule without other conditions covers its agents, so there is never a call it is about"
	case r.effect == allows && s.allow && r.says == nil:
		return "the default is allow, so it decides nothing"
	case r.effect != allows && !r.target.skills.All() && r.target.methods&^s.ops.surelyWide() == 0:
		return "it is about some skills of methods that are about no skill; " +
			"it matches only calls under the path of such a skill"
	}
	return ""
}

// closedBy are the agents that some rule denies to everybody, as patterns.
func closedBy(rules []*rule) pattern.List {
	list := []string{}
	for _, r := range rules {
		other := func(d *condition) bool { return d != &onAgents }
		if r.effect != denies || r.shadow || slices.ContainsFunc(r.checks.all, other) {
			continue
		}
		if r.target.agents.All() {
			return pattern.Compile(nil)
		}
		list = append(list, r.source.Agents...)
	}
	return pattern.Compile(list)
}

// overruled reports whether all agents of a rule are closed. Matching a glob as
// if it were an id is sound: its stars can only be taken by the other's stars,
// which then take whatever they stand for.
func overruled(r *rule, closed pattern.List) bool {
	if r.target.agents.All() {
		return closed.All()
	}
	return !slices.ContainsFunc(r.source.Agents, func(text string) bool { return !closed.Match(text) })
}

// Known is what is found out only while the gateway runs.
type Known struct {
	Issuers []string            // that principals can come from; nil when not known
	Skills  map[string][]string // by agent id; agents whose card is not known are left out
	Now     time.Time           // for windows that are over; zero when not asked
}

// Lint compares the rules with what is known by now: issuers and skills that do
// not exist, times that are over, and subjects or groups that say too little when several
// issuers vouch for them.
func (s *Set) Lint(k Known) []warning {
	var list []warning
	for _, r := range s.rules {
		list = append(list, r.lintNames(k.Issuers)...)
		for _, d := range r.checks.all {
			if d.lint != nil {
				list = append(list, d.lint(s, r, k)...)
			}
		}
	}
	return append(list, s.sharing.lint(s.ids, k)...)
}
