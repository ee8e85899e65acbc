package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// onClaims is the condition on what the credential says of the caller beside its name.
var onClaims = condition{
	key: "claims", about: ofCaller, holds: "each claim has one of the values",
	compile: func(_ *compiler, r *rule) []error {
		r.caller.claims = newClaims(r.source.Claims)
		return r.source.checkClaims()
	},
	has: func(r *rule) bool { return r.caller.claims != nil },
	caller: func(r *rule, p *authn.Principal) string {
		for i := range r.caller.claims {
			// All of them have to hold, each by one of its values.
			if c := &r.caller.claims[i]; !c.holds(p, r.restricts()) {
				return c.key
			}
		}
		return ""
	},
	covers: func(r, other *rule) bool {
		for path, values := range r.source.Claims {
			if !pattern.Widens(values, other.source.Claims[path]) {
				return false
			}
		}
		return true
	},
	names: func(*rule) string { return "claims" },
	asks:  func(src *Rule) Facts { return Facts{Claims: src.Claims != nil} },
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

// claim is one entry of Rule.Claims, compiled.
type claim struct {
	path   string
	key    string // what step.Failed calls it
	values []string
}

// newClaims compiles them. They are asked in the order of their names, so that the same call
// always fails at the same one.
func newClaims(conditions map[string][]string) []claim {
	var list []claim
	for _, path := range slices.Sorted(maps.Keys(conditions)) {
		list = append(list, claim{path, "claims." + path, conditions[path]})
	}
	return list
}

// holds reports whether the claim, or a member of the list that it is, has one of the
// values. In doubt it says what doubt is: a deny rule must hold where it might.
func (c *claim) holds(p *authn.Principal, doubt bool) bool {
	v, ok := p.Claim(c.path)
	if !ok {
		return doubt && elsewhere(p, c.path)
	}
	list, ok := v.([]any)
	if !ok {
		return c.has(v, doubt)
	}
	return slices.ContainsFunc(list, func(member any) bool { return c.has(member, doubt) })
}

// has compares one value, which is what its JSON text is. Objects, lists in lists and
// null have none of the values.
func (c *claim) has(v any, doubt bool) bool {
	switch v := v.(type) {
	case string:
		return slices.Contains(c.values, v)
	case bool:
		return slices.Contains(c.values, strconv.FormatBool(v))
	case json.Number:
		return slices.Contains(c.values, v.String())
	case float64:
		return c.hasNumber(v, doubt)
	}
	return false
}

// exact bounds the whole numbers that a float64 tells apart.
const exact = 1 << 53

// hasNumber compares a number. Beyond exact two numbers of the credential may have
// become one.
func (c *claim) hasNumber(f float64, doubt bool) bool {
	vague := math.Abs(f) >= exact
	if vague && !doubt {
		return false
	}
	var room [32]byte
	text := strconv.AppendFloat(room[:0], f, 'f', -1, 64)
	for _, v := range c.values {
		if string(text) == v {
			return true
		}
		if near, err := strconv.ParseFloat(v, 64); vague && err == nil && near == f {
			return true
		}
	}
	return false
}

// elsewhere reports whether the credential only says where the claim can be had
// (OpenID Connect Core §5.6.2).
func elsewhere(p *authn.Principal, path string) bool {
	names, _ := p.Claims["_claim_names"].(map[string]any)
	for name := range names {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}
