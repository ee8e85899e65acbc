package policy

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// claim is one entry of Rule.Claims, compiled.
type claim struct {
	path   string
	key    string // what Step.Failed calls it
	values []string
}

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
