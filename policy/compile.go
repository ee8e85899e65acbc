package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Compile checks a Config and makes it fast. agents are the ids of the configured
// agents: a rule that names another one is an error. All errors are reported at
// once, each with the rule it is about; warnings are for rules that are allowed
// but cannot do what they seem to. extra are the methods that extensions bring, at
// most fifty; those are the calls that rules can name beside A2A's own.
func Compile(c Config, agents []string, extra ...*wire.Method) (*Set, []Warning, error) {
	s := &Set{ids: slices.Clone(agents), bits: make(map[*wire.Method]methods)}
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)
	names, err := s.methodNames(extra)

	errs := []error{err, s.options(c)}
	taken := map[string]bool{}
	for i := range c.Rules {
		r, err := s.compile(i, &c.Rules[i], names, taken)
		errs = append(errs, err)
		s.rules = append(s.rules, r)
		s.hasExtensionRules = s.hasExtensionRules || r.says != nil
		s.hasStepUp = s.hasStepUp || r.terms != nil && (r.terms.authentication != nil || r.terms.consent != nil)
		s.hasConditions = s.hasConditions || s.hasStepUp || r.momentary()
	}
	errs = append(errs, s.compileExprs())
	errs = append(errs, s.share(c.Tasks.Sharing, names)...)
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	return s, s.warnings(s.index()), nil
}

// methodNames gives every operation its bit and lists it under each name it has
// had. An extension's method must not have a name of another one: a rule for the
// one would be a rule for the other.
func (s *Set) methodNames(extra []*wire.Method) (map[string]methods, error) {
	names := map[string]methods{}
	table := wire.Methods()
	for i := range table {
		m, bit := &table[i], methods(1)<<i
		s.bits[m] = bit
		for _, name := range []string{m.Name, m.V03, m.V01} {
			if name != "" {
				names[name] |= bit
			}
		}
	}
	if len(extra) > maxExtra {
		return names, fmt.Errorf("extensions bring %d methods; rules can tell apart %d", len(extra), maxExtra)
	}
	var errs []error
	for i, m := range extra {
		bit := methods(1) << (len(table) + i)
		if names[m.Name] != 0 {
			errs = append(errs, fmt.Errorf("method %q of extension %q: another method has the same name",
				m.Name, m.Extension))
			continue
		}
		s.bits[m], names[m.Name] = bit, bit
	}
	return names, errors.Join(errs...)
}

// options reads everything but the rules.
func (s *Set) options(c Config) error {
	var errs []error
	switch c.Default {
	case "", "deny":
	case "allow":
		s.allow = true
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`default is %q; it must be "deny" or "allow"`, c.Default), "default"))
	}
	switch c.Skills.Undeclared {
	case "", "require-all":
	case "deny":
		s.undeclared = denyUndeclared
	case "agent":
		s.undeclared = byAgent
	case "require-any":
		s.undeclared = requireAny
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`skills.undeclared is %q; it must be "require-all", "require-any", "deny" or "agent"`,
			c.Skills.Undeclared), "skills", "undeclared"))
	}
	switch c.Skills.Scopes {
	case "", "off":
	case "card":
		s.cardScopes = true
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`skills.scopes is %q; it must be "off" or "card"`, c.Skills.Scopes), "skills", "scopes"))
	}
	switch c.Tasks.Scope {
	case "", "principal", "tenant":
	case "agent":
		s.sharedByAgent = true
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`tasks.scope is %q; it must be "principal", "tenant" or "agent"`,
			c.Tasks.Scope), "tasks", "scope"))
	}
	if m := c.Tasks.Contexts; m != "" && m != "derive" && m != "adopt" {
		errs = append(errs, keypath.Point(fmt.Errorf(`tasks.contexts is %q; it must be "derive" or "adopt"`, m), "tasks", "contexts"))
	}
	return errors.Join(errs...)
}

// compile reads one rule. taken holds the names of the rules before it.
func (s *Set) compile(pos int, src *Rule, names map[string]methods, taken map[string]bool) (*rule, error) {
	r := &rule{
		pos: pos, name: src.Name, source: src,
		effect: effects[src.Effect], shadow: src.Mode == "shadow",
		would:  src.Effect + " " + src.Name,
		agents: newPatterns(src.Agents), skills: newPatterns(src.Skills), subjects: newPatterns(src.Subjects),
		issuers: src.Issuers, groups: src.Groups, scopes: src.Scopes, terms: newTerms(src),
	}
	circumstances, wrong := newCircumstances(src)
	r.circumstances = circumstances
	r.speak(src.Extensions)
	problems := slices.Concat(src.checkName(taken), src.checkWords(), src.checkLists(), s.checkAgents(src.Agents),
		src.checkTerms(), wrong, src.checkExtensions())
	var unknown []error
	r.methods, unknown = methodsOf(src.Methods, names)
	problems = append(problems, unknown...)
	taken[src.Name] = true

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

// methodsOf looks method names up and describes those that nobody knows.
func methodsOf(list []string, names map[string]methods) (set methods, problems []error) {
	if list == nil {
		return allMethods, nil
	}
	for i, name := range list {
		bits, ok := names[name]
		switch {
		case ok:
			set |= bits
		case name == "*":
			problems = append(problems, keypath.Point(errors.New(`methods has no "*"; leave methods out to mean every method`), "methods", i))
		case name != "":
			problems = append(problems, keypath.Point(fmt.Errorf("method %q is not an A2A method", name), "methods", i))
		}
	}
	return set, problems
}
