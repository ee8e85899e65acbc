package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameLength bounds rule names: they stand in every audit record.
const nameLength = 128

// checkName returns what is wrong with the name of a rule. taken holds those of others.
func (r *Rule) checkName(taken map[string]bool) []string {
	if slices.Contains(Undecided(), r.Name) {
		return []string{"the name is reserved for decisions that no rule makes"}
	}
	return checkName(r.Name, taken, "another rule")
}

func checkName(name string, taken map[string]bool, other string) []string {
	switch {
	case name == "":
		return []string{"name is missing"}
	case taken[name]:
		return []string{other + " has the same name"}
	case len(name) > nameLength:
		return []string{fmt.Sprintf("the name is longer than %d bytes", nameLength)}
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		return []string{"the name has characters that cannot be printed"}
	}
	return nil
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// checkWords returns what is wrong with effect and mode.
func (r *Rule) checkWords() []string {
	var problems []string
	switch r.Effect {
	case "allow":
	case "deny":
		if r.Extensions != nil {
			problems = append(problems, "it denies the call, so there is none that could have extensions")
		}
	case "":
		if r.Extensions == nil {
			problems = append(problems, `effect is missing; it must be "allow" or "deny"`)
		}
	default:
		problems = append(problems, fmt.Sprintf(`effect is %q; it must be "allow" or "deny"`, r.Effect))
	}
	switch r.Mode {
	case "", "enforce", "shadow":
	default:
		problems = append(problems, fmt.Sprintf(`mode is %q; it must be "enforce" or "shadow"`, r.Mode))
	}
	return problems
}

// checkLists returns what is wrong with the conditions, read on their own.
func (r *Rule) checkLists() []string {
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
func checkLists(list []condition, whose string) []string {
	var problems []string
	for _, l := range list {
		switch {
		case l.items == nil:
		case len(l.items) == 0:
			problems = append(problems, fmt.Sprintf("%s is empty, so the %s can never match; "+
				"leave it out to mean any", l.key, whose))
		case slices.Contains(l.items, ""):
			problems = append(problems, fmt.Sprintf("%s has an empty entry", l.key))
		case l.exact && slices.Contains(l.items, "*"):
			problems = append(problems, fmt.Sprintf(`%s are compared exactly and "*" is none; `+
				"leave it out to mean any", l.key))
		}
	}
	return problems
}

// checkAgents returns the agents that are named exactly and do not exist.
func (s *Set) checkAgents(list []string) []string {
	var problems []string
	for _, id := range list {
		if id == "" || strings.Contains(id, "*") {
			continue
		}
		if _, ok := slices.BinarySearch(s.ids, id); !ok {
			problems = append(problems, fmt.Sprintf("agent %q is not configured", id))
		}
	}
	return problems
}
