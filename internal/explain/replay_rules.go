package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/policy"
)

// facts are what rules may ask of a call and its record does not have.
type facts uint8

const (
	factClaims   facts = 1 << iota // claims of tokens
	factMessage                    // what the call brings
	factSkill                      // what the call is for, where it was not found
	factTask                       // whose task it is about, and since when
	factExpiry                     // when the credential ends
	factSoftware                   // what is more of the workload than its name
)

// String lists them, for people.
func (f facts) String() string {
	var names []string
	for i, name := range []string{"claims", "message", "skill", "task", "expiry of the credential", "workload"} {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// words are how expressions come to facts. A word in another place counts as well, which
// is too often at worst.
var words = map[facts]*regexp.Regexp{
	factClaims:   regexp.MustCompile(`\bclaims\b|\bprincipal\s*([^.\s]|$)`),
	factMessage:  regexp.MustCompile(`\bmessage\b`),
	factSkill:    regexp.MustCompile(`\bskill\b`),
	factTask:     regexp.MustCompile(`\btask\b`),
	factExpiry:   regexp.MustCompile(`\bexpires\b|\bprincipal\s*([^.\s]|$)`),
	factSoftware: regexp.MustCompile(`\bworkload\b`),
}

// asks are the facts that a rule asks.
func asks(r *policy.Rule) facts {
	var f facts
	if r.Claims != nil || r.Consent != nil && r.Consent.Claim != "" {
		f |= factClaims
	}
	if r.Content != nil {
		f |= factMessage
	}
	if r.Skills != nil {
		f |= factSkill
	}
	return f | inExpr(r.Expr)
}

func inExpr(text string) facts {
	var f facts
	for fact, word := range words {
		if word.MatchString(text) {
			f |= fact
		}
	}
	return f
}

// without is the rule with no conditions on facts: it matches whenever the rule might.
func without(r policy.Rule, f facts) policy.Rule {
	if f&factClaims != 0 {
		r.Claims = nil
		if r.Consent != nil && r.Consent.Claim != "" {
			r.Consent = nil
		}
	}
	if f&factMessage != 0 {
		r.Content = nil
	}
	if f&factSkill != 0 {
		r.Skills = nil
	}
	if inExpr(r.Expr)&f != 0 {
		r.Expr = ""
	}
	return r
}

// bounds are the rules for calls of which facts are not known, at their strictest and at
// their most lenient. Where both decide the same, so does whatever the facts are: more
// allow rules and fewer deny rules that match never make a refusal of a permission.
type bounds struct {
	strict, lenient *policy.Set
	altered         map[string]facts // rules that ask for what is not known
}

// boundsFor compiles them, once for each set of facts. Rules that decide nothing are left
// out.
func (r *Replay) boundsFor(unknown facts) (*bounds, error) {
	if b := r.bounds[unknown]; b != nil {
		return b, nil
	}
	b := &bounds{altered: map[string]facts{}}
	strict, lenient := r.Policy, r.Policy
	strict.Rules, lenient.Rules = nil, nil
	for _, rule := range r.Policy.Rules {
		if rule.Effect == "" || rule.Mode == "shadow" {
			continue
		}
		f := asks(&rule) & unknown
		loose := without(rule, f)
		if f != 0 {
			b.altered[rule.Name] = f
		}
		if f == 0 || rule.Effect == "deny" {
			strict.Rules = append(strict.Rules, loose)
		}
		if f == 0 || rule.Effect == "allow" {
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
func (b *bounds) doubt(q *policy.Request) string {
	var f facts
	var names []string
	for _, set := range []*policy.Set{b.strict, b.lenient} {
		for _, s := range set.Trace(*q) {
			if more := b.altered[s.Rule]; s.Failed == "" && more != 0 && !slices.Contains(names, s.Rule) {
				f, names = f|more, append(names, s.Rule)
			}
		}
	}
	slices.Sort(names)
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return fmt.Sprintf("%s: asked for by %s", f, strings.Join(names, ", "))
}
