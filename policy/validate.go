package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// nameLength bounds rule names: they stand in every audit record.
const nameLength = 128

// checkName returns what is wrong with the name of a rule. taken holds those of others.
func (r *Rule) checkName(taken map[string]bool) []error {
	if slices.Contains(Undecided(), r.Name) {
		return []error{keypath.Point(errors.New("the name is reserved for decisions that no rule makes"), "name")}
	}
	return checkName(r.Name, taken, "another rule")
}

func checkName(name string, taken map[string]bool, other string) []error {
	var err error
	switch {
	case name == "":
		err = errors.New("name is missing")
	case taken[name]:
		return []error{errors.New(other + " has the same name")}
	case len(name) > nameLength:
		err = fmt.Errorf("the name is longer than %d bytes", nameLength)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		err = errors.New("the name has characters that cannot be printed")
	default:
		return nil
	}
	return []error{keypath.Point(err, "name")}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// checkWords returns what is wrong with effect and mode.
func (r *Rule) checkWords() []error {
	var problems []error
	switch r.Effect {
	case "allow":
	case "deny":
		if r.Extensions != nil {
			problems = append(problems, keypath.Point(errors.New("it denies the call, so there is none that could have extensions"), "extensions"))
		}
	case "":
		if r.Extensions == nil {
			problems = append(problems, keypath.Point(errors.New(`effect is missing; it must be "allow" or "deny"`), "effect"))
		}
	default:
		problems = append(problems, keypath.Point(fmt.Errorf(`effect is %q; it must be "allow" or "deny"`, r.Effect), "effect"))
	}
	switch r.Mode {
	case "", "enforce", "shadow":
	default:
		problems = append(problems, keypath.Point(fmt.Errorf(`mode is %q; it must be "enforce" or "shadow"`, r.Mode), "mode"))
	}
	return problems
}

// checkLists returns what is wrong with the conditions, read on their own.
func (r *Rule) checkLists() []error {
	return checkLists([]condition{
		{"agents", r.Agents, false},
		{"skills", r.Skills, false},
		{"methods", r.Methods, false},
		{"subjects", r.Subjects, false},
		{"groups", r.Groups, true},
		{"scopes", r.Scopes, true},
		{"issuers", r.Issuers, true},
		{"clients", r.Clients, false},
		{"actors", r.Actors, false},
		{"bindings", r.Bindings, true},
		{"sources", r.Sources, true},
	}, "rule")
}

// condition is one that any entry of a list meets.
type condition struct {
	key   string
	items []string
	exact bool // no globs, so a lone star is a misunderstanding
}

// checkLists returns what is wrong with the conditions of a rule, or whatever has them.
func checkLists(list []condition, whose string) []error {
	var problems []error
	for _, l := range list {
		switch {
		case l.items == nil:
		case len(l.items) == 0:
			problems = append(problems, keypath.Point(fmt.Errorf("%s is empty, so the %s can never match; "+
				"leave it out to mean any", l.key, whose), l.key))
		case slices.Contains(l.items, ""):
			problems = append(problems, keypath.Point(fmt.Errorf("%s has an empty entry", l.key), l.key, slices.Index(l.items, "")))
		case l.exact && slices.Contains(l.items, "*"):
			problems = append(problems, keypath.Point(fmt.Errorf(`%s are compared exactly and "*" is none; `+
				"leave it out to mean any", l.key), l.key, slices.Index(l.items, "*")))
		}
	}
	return problems
}

// checkAgents returns the agents that are named exactly and do not exist.
func (s *Set) checkAgents(list []string) []error {
	var problems []error
	for i, id := range list {
		if id == "" || strings.Contains(id, "*") {
			continue
		}
		if _, ok := slices.BinarySearch(s.ids, id); !ok {
			problems = append(problems, keypath.Point(fmt.Errorf("agent %q is not configured", id), "agents", i))
		}
	}
	return problems
}
