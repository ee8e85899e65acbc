package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkTerms returns what is wrong with the conditions that few rules have.
func (r *Rule) checkTerms() []string {
	problems := slices.Concat(r.checkClaims(), r.Authentication.check(), r.Consent.check())
	if slices.Contains(r.Actors, nobody) && len(r.Actors) > 1 {
		problems = append(problems, `actors has "none" beside others; it stands alone`)
	}
	if r.Effect == "allow" {
		return problems
	}
	// A rule that denies, or speaks of extensions only, has nothing to offer to a caller
	// who signs in once more.
	if r.Authentication != nil {
		problems = append(problems, "authentication is for rules with effect allow")
	}
	if r.Consent != nil {
		problems = append(problems, "consent is for rules with effect allow")
	}
	return problems
}

// checkClaims reports the claims in the order of their names.
func (r *Rule) checkClaims() []string {
	if r.Claims != nil && len(r.Claims) == 0 {
		return []string{"claims is empty; leave it out to mean any"}
	}
	var problems []string
	for _, path := range slices.Sorted(maps.Keys(r.Claims)) {
		values := r.Claims[path]
		switch {
		case path == "":
			problems = append(problems, "claims has an empty name")
		case len(values) == 0:
			problems = append(problems, fmt.Sprintf("claims.%s is empty, so the rule can never match; "+
				"leave it out to mean any", path))
		case slices.Contains(values, ""):
			problems = append(problems, fmt.Sprintf("claims.%s has an empty entry", path))
		case slices.Contains(values, "*"):
			problems = append(problems, fmt.Sprintf(`claims.%s: values are compared exactly and "*" is none`, path))
		}
	}
	return problems
}

// check returns what is wrong with what a rule asks of the user's authentication.
func (a *Authentication) check() []string {
	if a == nil {
		return nil
	}
	var problems []string
	if a.ACR == nil && a.AMR == nil && a.MaxAge == 0 {
		problems = append(problems, "authentication has none of acr, amr and maxAge")
	}
	for _, l := range []struct {
		key   string
		items []string
	}{{"acr", a.ACR}, {"amr", a.AMR}} {
		if l.items != nil && len(l.items) == 0 {
			problems = append(problems, fmt.Sprintf("authentication.%s is empty; leave it out to mean any", l.key))
		}
		for i, item := range l.items {
			if !token(item) {
				problems = append(problems, fmt.Sprintf("authentication.%s: %q is not a word without spaces, "+
					"quotes and backslashes", l.key, item))
			} else if slices.Contains(l.items[:i], item) {
				problems = append(problems, fmt.Sprintf("authentication.%s has %q twice", l.key, item))
			}
		}
	}
	if d := a.MaxAge.Std(); d < 0 || d%time.Second != 0 { // max_age has no fractions
		problems = append(problems, fmt.Sprintf("authentication.maxAge: %s is not whole seconds", d))
	}
	return problems
}

// check returns what is wrong with what the user has to have agreed to.
func (c *Consent) check() []string {
	switch {
	case c == nil:
		return nil
	case (c.Scope == "") == (c.Claim == ""):
		return []string{"consent needs exactly one of scope and claim"}
	case c.Scope != "" && c.Value != "":
		return []string{"consent.value is for a claim"}
	case c.Scope != "" && !token(c.Scope):
		return []string{fmt.Sprintf("consent.scope: %q is not one scope", c.Scope)}
	}
	return nil
}

// token reports whether a word can stand in a challenge's list of acr_values or scopes
// (RFC 6749 §3.3).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}
