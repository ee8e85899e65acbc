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

// checkName returns what is wrong with a name that has to be unique and printable. other is
// what else may have it.
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

// unprintable reports a rune that could make a record look like another one: control
// characters and those that turn the direction of the text.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// checkWords returns what is wrong with effect and mode.
func (r *Rule) checkWords() []error {
	var problems []error
	switch r.Effect {
	case "allow":
	case "approve":
		if r.Extensions != nil {
			problems = append(problems, keypath.Point(errors.New("it has calls wait that other rules allow; extensions are for those"), "extensions"))
		}
	case "deny":
		if r.Extensions != nil {
			problems = append(problems, keypath.Point(errors.New("it denies the call, so there is none that could have extensions"), "extensions"))
		}
	case "":
		if r.Extensions == nil {
			problems = append(problems, keypath.Point(errors.New(`effect is missing; it must be "allow", "deny" or "approve"`), "effect"))
		}
	default:
		problems = append(problems, keypath.Point(fmt.Errorf(`effect is %q; it must be "allow", "deny" or "approve"`, r.Effect), "effect"))
	}
	switch r.Mode {
	case "", "enforce", "shadow":
	default:
		problems = append(problems, keypath.Point(fmt.Errorf(`mode is %q; it must be "enforce" or "shadow"`, r.Mode), "mode"))
	}
	return problems
}

// checkList returns what is wrong with a condition of a rule, or whatever has it, that any
// entry of a list meets. exact says that entries are no patterns, so that a lone star is a
// misunderstanding.
func checkList(key string, items []string, exact bool, whose string) []error {
	var err error
	switch {
	case items == nil:
		return nil
	case len(items) == 0:
		err = keypath.Point(fmt.Errorf("%s is empty, so the %s can never match; leave it out to mean any", key, whose), key)
	case slices.Contains(items, ""):
		err = keypath.Point(errors.New(key+" has an empty entry"), key, slices.Index(items, ""))
	case exact && slices.Contains(items, "*"):
		err = keypath.Point(errors.New(key+` are compared exactly and "*" is none; leave it out to mean any`), key, slices.Index(items, "*"))
	default:
		return nil
	}
	return []error{err}
}
