package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
)

// Compile checks a Config and makes it fast. agents are the ids of the configured
// agents: a rule that names another one is an error. All errors are reported at
// once, each with the rule it is about; warnings are for rules that are allowed
// but cannot do what they seem to. extra are the methods that extensions bring, at
// most fifty; those are the calls that rules can name beside A2A's own.
func Compile(c Config, agents []string, extra ...*wire.Method) (*Set, []warning, error) {
	s := &Set{ids: sortedIDs(agents), ops: operations{}}
	names, err := s.ops.number(extra)

	errs := []error{err, s.options(c)}
	compiler := compiler{Set: s, methods: names, taken: map[string]bool{}}
	for i := range c.Rules {
		r, err := compiler.rule(i, &c.Rules[i])
		errs = append(errs, err)
		s.rules = append(s.rules, r)
		s.hasExtensionRules = s.hasExtensionRules || r.says != nil
		s.hasStepUp = s.hasStepUp || r.checks.ofSignIn != nil
		s.hasConditions = s.hasConditions || s.hasStepUp || r.momentary()
		s.exprs = s.exprs || r.call.expr != nil
		s.approves = s.approves || r.effect == approves
	}
	errs = append(errs, compiler.late...)
	errs = append(errs, s.sharing.compile(c.Tasks.Sharing, s, names)...)
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	return s, newLinter(s, s.index()).warnings(), nil
}

// sortedIDs are ids in order, each once.
func sortedIDs(agents []string) agentIDs { return slices.Compact(slices.Sorted(slices.Values(agents))) }

// rule compiles one rule, the one at a place in the file.
func (c *compiler) rule(pos int, src *Rule) (*rule, error) {
	r := &rule{
		pos: pos, name: src.Name, source: src,
		effect: effects[src.Effect], shadow: src.Mode == "shadow",
		would: src.Effect + " " + src.Name,
	}
	problems := slices.Concat(src.checkName(c.taken), src.checkWords(), c.conditions(r), r.approve(), src.checkExtensions())
	// Only now: a name is no repetition of itself.
	c.taken[src.Name] = true
	r.speak(src.Extensions)

	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, r.wrong(p))
	}
	return r, errors.Join(errs...)
}

// wrong makes an error of what is wrong with the rule.
func (r *rule) wrong(err error) error {
	return keypath.Point(&RuleError{Number: r.pos + 1, Name: r.name, Err: err}, "rules", r.pos)
}

// approve compiles what a rule with effect approve asks for, and describes what is wrong with it. Its
// digest is that of the whole rule, so that nobody's approval counts for what the rule says later.
func (r *rule) approve() []error {
	keys := approval.Keys{Approvers: r.source.Approvers, Advisers: r.source.Advisers, Within: r.source.Within, Remember: r.source.Remember}
	if r.effect != approves {
		return keys.Absent()
	}
	text, err := json.Marshal(r.source, json.Deterministic(true))
	if err != nil {
		return []error{err}
	}
	sum := sha256.Sum256(text)
	var problems []error
	r.approval, problems = approval.New(r.name, hex.EncodeToString(sum[:]), keys)
	return problems
}
