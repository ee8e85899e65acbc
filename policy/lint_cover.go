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
func (s *Set) idle(r *rule, sh *shadowed) string {
	for _, list := range sh.above(r) {
		for _, other := range list {
			if sh.budget--; sh.budget < 0 {
				return ""
			}
			if text := s.idleBehind(r, other); text != "" {
				return text
			}
		}
	}
	return ""
}

// idleBehind is idle, about one other rule.
func (s *Set) idleBehind(r, other *rule) string {
	switch {
	case other == r || other.shadow:
		return ""
	case other.effect == r.effect && r.effect != silent:
		if !other.covers(r) {
			return ""
		}
		if r.says == nil && (r.shadow || other.pos < r.pos || !r.covers(other)) || r.asks() && !other.asks() {
			return idleBeside(r, other)
		}
	case other.effect == denies && s.stops(other, r):
		if r.effect == silent {
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

// shadowed finds the rules that may cover another.
type shadowed struct {
	set     *Set
	buckets map[string]*bucket // by pattern of agents
	globs   []string           // of the patterns, those with a star
	// budget is how many pairs are still looked at: warnings are a help, and ten thousand
	// rules that no index tells apart must not hold up a reload for seconds.
	budget int
}

const coverBudget = 2_000_000

// shadowed makes ready to look for rules that cover others, in the buckets of the index.
func (s *Set) shadowed(buckets map[string]*bucket) *shadowed {
	sh := &shadowed{set: s, buckets: buckets, budget: coverBudget}
	for text := range buckets {
		if strings.Contains(text, "*") {
			sh.globs = append(sh.globs, text)
		}
	}
	return sh
}

// above lists the rules that may cover r, itself among them: those that stand where a
// rule does that is about the first of r's agents and the first of its callers. Such a
// rule may come twice.
func (sh *shadowed) above(r *rule) [][]*rule {
	var lists [][]*rule
	src := r.source
	for _, b := range sh.around(r.places()[0]) {
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
func (sh *shadowed) around(text string) []*bucket {
	if !strings.Contains(text, "*") {
		return sh.set.agents[text]
	}
	var list []*bucket
	for _, wide := range sh.globs {
		g := pattern.NewGlob(wide)
		if wide == "*" || wide == text || g.Match(text) {
			list = append(list, sh.buckets[wide])
		}
	}
	return list
}
