package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// checkTerms returns what is wrong with the conditions that few rules have.
func (r *Rule) checkTerms() []error {
	problems := slices.Concat(r.checkClaims(), r.Authentication.check(), r.Consent.check())
	if slices.Contains(r.Actors, nobody) && len(r.Actors) > 1 {
		problems = append(problems, keypath.Point(errors.New(`actors has "none" beside others; it stands alone`), "actors", slices.Index(r.Actors, nobody)))
	}
	if r.Effect == "allow" {
		return problems
	}
	// A rule that denies, or speaks of extensions only, has nothing to offer to a caller
	// who signs in once more.
	if r.Authentication != nil {
		problems = append(problems, keypath.Point(errors.New("authentication is for rules with effect allow"), "authentication"))
	}
	if r.Consent != nil {
		problems = append(problems, keypath.Point(errors.New("consent is for rules with effect allow"), "consent"))
	}
	return problems
}

// checkClaims reports the claims in the order of their names.
func (r *Rule) checkClaims() []error {
	if r.Claims != nil && len(r.Claims) == 0 {
		return []error{keypath.Point(errors.New("claims is empty; leave it out to mean any"), "claims")}
	}
	var problems []error
	for _, path := range slices.Sorted(maps.Keys(r.Claims)) {
		values := r.Claims[path]
		switch {
		case path == "":
			problems = append(problems, keypath.Point(errors.New("claims has an empty name"), "claims"))
		case len(values) == 0:
			problems = append(problems, keypath.Point(fmt.Errorf("claims.%s is empty, so the rule can never match; "+
				"leave it out to mean any", path), "claims", path))
		case slices.Contains(values, ""):
			problems = append(problems, keypath.Point(fmt.Errorf("claims.%s has an empty entry", path), "claims", path, slices.Index(values, "")))
		case slices.Contains(values, "*"):
			problems = append(problems, keypath.Point(fmt.Errorf(`claims.%s: values are compared exactly and "*" is none`, path), "claims", path, slices.Index(values, "*")))
		}
	}
	return problems
}

// check returns what is wrong with what a rule asks of the user's authentication.
func (a *Authentication) check() []error {
	if a == nil {
		return nil
	}
	var problems []error
	if a.ACR == nil && a.AMR == nil && a.MaxAge == 0 {
		problems = append(problems, keypath.Point(errors.New("authentication has none of acr, amr and maxAge"), "authentication"))
	}
	for _, l := range []struct {
		key   string
		items []string
	}{{"acr", a.ACR}, {"amr", a.AMR}} {
		if l.items != nil && len(l.items) == 0 {
			problems = append(problems, keypath.Point(fmt.Errorf("authentication.%s is empty; leave it out to mean any", l.key), "authentication", l.key))
		}
		for i, item := range l.items {
			if !token(item) {
				problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is not a word without spaces, "+
					"quotes and backslashes", item), i), "authentication", l.key))
			} else if slices.Contains(l.items[:i], item) {
				problems = append(problems, keypath.Point(fmt.Errorf("authentication.%s has %q twice", l.key, item), "authentication", l.key, i))
			}
		}
	}
	if d := a.MaxAge.Std(); d < 0 || d%time.Second != 0 { // max_age has no fractions
		problems = append(problems, keypath.At(fmt.Errorf("%s is not whole seconds", d), "authentication", "maxAge"))
	}
	return problems
}

// check returns what is wrong with what the user has to have agreed to.
func (c *Consent) check() []error {
	var err error
	switch {
	case c == nil:
		return nil
	case (c.Scope == "") == (c.Claim == ""):
		err = keypath.Point(errors.New("consent needs exactly one of scope and claim"), "consent")
	case c.Scope != "" && c.Value != "":
		err = keypath.Point(errors.New("consent.value is for a claim"), "consent", "value")
	case c.Scope != "" && !token(c.Scope):
		err = keypath.At(fmt.Errorf("%q is not one scope", c.Scope), "consent", "scope")
	default:
		return nil
	}
	return []error{err}
}

// token reports whether a word can stand in a challenge's list of acr_values or scopes
// (RFC 6749 §3.3).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}
