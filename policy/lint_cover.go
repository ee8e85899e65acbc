package policy

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// idle says that a rule decides nothing because of another, enforced one, or "". Of two
// that hold for the same calls it is the later one in the file. What a rule says about
// extensions counts beside another that allows the same calls, and not behind one that
// denies them.
func (l *linter) idle(r *rule) string {
	for _, list := range l.above(r) {
		for _, other := range list {
			if l.budget--; l.budget < 0 {
				return ""
			}
			if text := r.idleBehind(other, l.set.ops); text != "" {
				return text
			}
		}
	}
	return ""
}

// idleBehind is idle, about one other rule.
func (r *rule) idleBehind(other *rule, ops operations) string {
	switch {
	case other == r || other.shadow:
		return ""
	case r.effect == approves && other.effect == approves: // each has approvers of its own
	case other.effect == r.effect && r.effect != silent:
		if !other.covers(r) {
			return ""
		}
		if r.says == nil && (r.shadow || other.pos < r.pos || !r.covers(other)) || r.asks() && !other.asks() {
			return idleBeside(r, other)
		}
	case other.effect == denies && other.stops(r, ops):
		if r.effect == silent || r.effect == approves {
			return fmt.Sprintf("rule %q denies the same calls, so there is never a call it is about", other.name)
		}
		return fmt.Sprintf("rule %q denies the same calls, so it can never allow anything", other.name)
	}
	return ""
}

// asks reports whether the rule asks for an authentication or a consent.
func (r *rule) asks() bool { return r.checks.ofSignIn != nil }

// idleBeside is for two rules of the same effect. Allow rules add up: a stricter one
// beside a laxer one takes nothing away.
func idleBeside(r, other *rule) string {
	verb := r.source.Effect + "s"
	if r.effect == denies {
		verb = "denies"
	}
	switch {
	case r.asks() && !other.asks():
		return fmt.Sprintf("rule %q allows the same calls without its authentication and consent, "+
			"so that nobody is asked for them", other.name)
	case r.shadow:
		return fmt.Sprintf("rule %q %s the same calls already, so enforcing it would change nothing", other.name, verb)
	}
	return fmt.Sprintf("rule %q %s the same calls already, so it decides nothing", other.name, verb)
}

// linter looks for rules that do not do what they seem to, when a set is compiled.
type linter struct {
	set     *Set
	closed  pattern.List       // the agents that some rule denies to everybody
	buckets map[string]*bucket // the index of the rules, by pattern of agents
	globs   []string           // of the patterns, those with a star
	// budget is how many pairs of rules are still compared: warnings are a help, and ten thousand
	// rules that no index tells apart must not hold up a reload for seconds.
	budget int
}

// coverBudget is how many pairs of rules are compared for one set: as many as 1,400 rules have
// that are all about the same agents and callers.
const coverBudget = 2_000_000

// newLinter makes ready to look at the rules of a set, in the buckets of its index.
func newLinter(s *Set, buckets map[string]*bucket) *linter {
	l := &linter{set: s, closed: closedBy(s.rules), buckets: buckets, budget: coverBudget}
	for text := range buckets {
		if strings.Contains(text, "*") {
			l.globs = append(l.globs, text)
		}
	}
	return l
}

// above lists the rules that may cover r, itself among them: those that stand where a
// rule does that is about the first of r's agents and the first of its callers. Such a
// rule may come twice.
func (l *linter) above(r *rule) [][]*rule {
	var lists [][]*rule
	src := r.source
	for _, b := range l.around(r.places()[0]) {
		lists = append(lists, b.rest.all)
		if len(src.Subjects) > 0 {
			lists = append(lists, b.subjects.under(src.Subjects[0]).rules())
		}
		if len(src.Groups) > 0 {
			lists = append(lists, b.groups.under(src.Groups[0]).rules())
		}
		if len(src.Issuers) > 0 {
			lists = append(lists, b.issuers.under(src.Issuers[0]).rules())
		}
		for _, scope := range src.Scopes {
			lists = append(lists, b.scopes.under(scope).rules())
		}
	}
	return lists
}

// around lists the buckets of the patterns that cover one.
func (l *linter) around(text string) []*bucket {
	if !strings.Contains(text, "*") {
		return l.set.agents[text]
	}
	var list []*bucket
	for _, wide := range l.globs {
		g := pattern.NewGlob(wide)
		if wide == "*" || wide == text || g.Match(text) {
			list = append(list, l.buckets[wide])
		}
	}
	return list
}
