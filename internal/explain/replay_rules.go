package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/policy"
)

// bounds are the rules for calls of which facts are not known, at their strictest and at
// their most lenient. Where both decide the same, so does whatever the facts are: more
// allow rules and fewer deny rules that match never make a refusal of a permission.
type bounds struct {
	strict, lenient *policy.Set
	altered         map[string]policy.Facts // rules that ask for what is not known
}

// boundsFor compiles them, once for each set of facts. Rules that decide nothing are left
// out.
func (r *Replay) boundsFor(unknown policy.Facts) (*bounds, error) {
	if b := r.bounds[unknown]; b != nil {
		return b, nil
	}
	b := &bounds{altered: map[string]policy.Facts{}}
	strict, lenient := r.Policy, r.Policy
	strict.Rules, lenient.Rules = nil, nil
	// A rule that asks for nothing unknown is in both sets as it is. Of the others, without the
	// conditions that cannot be told, deny rules make the strict set and allow rules the lenient
	// one.
	for _, rule := range r.Policy.Rules {
		if rule.Effect == "" || rule.Mode == "shadow" {
			continue
		}
		f := rule.Asks().And(unknown)
		loose := rule.Without(f)
		if f.Any() {
			b.altered[rule.Name] = f
		}
		if !f.Any() || rule.Effect == "deny" {
			strict.Rules = append(strict.Rules, loose)
		}
		if !f.Any() || rule.Effect == "allow" {
			lenient.Rules = append(lenient.Rules, loose)
		}
	}
	var err error
	if b.strict, _, err = policy.Compile(strict, r.RuleAgents, r.Book.Extra().Methods()...); err != nil {
		return nil, fmt.Errorf("compile the rules without %s: %w", unknown, err)
	}
	if b.lenient, _, err = policy.Compile(lenient, r.RuleAgents, r.Book.Extra().Methods()...); err != nil {
		return nil, fmt.Errorf("compile the rules without %s: %w", unknown, err)
	}
	r.bounds[unknown] = b
	return b, nil
}

// doubt says which rules keep the answer from being told, and what they ask.
// At most three rules are named: the reason is a key of the report, and is read by people.
func (b *bounds) doubt(q *policy.Request) string {
	var f policy.Facts
	var names []string
	for _, set := range []*policy.Set{b.strict, b.lenient} {
		for _, s := range set.Trace(*q) {
			if more := b.altered[s.Rule]; s.Failed == "" && more.Any() && !slices.Contains(names, s.Rule) {
				f, names = f.Or(more), append(names, s.Rule)
			}
		}
	}
	slices.Sort(names)
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return fmt.Sprintf("%s: asked for by %s", f, strings.Join(names, ", "))
}
