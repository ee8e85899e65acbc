package jwt

import "github.com/a2a-gateway/a2a-gateway/authn"

// Sizes of what Go makes of JSON, by the allocator's classes on 64 bits. TestWeights holds
// them to what the heap really grows by.
const (
	// weightPrincipal is a Principal with its origin and what a memory keeps beside it: the
	// key, the times, and room that a map has not filled yet.
	weightPrincipal = 1000
	weightMap       = 48  // an empty one
	weightGroup     = 288 // eight members of a map, the unit in which it grows
	weightItem      = 16  // of a list, of any kind
	weightBoxed     = 8   // a number behind an interface
)

// weight is about how many bytes of memory are kept as long as the principal is. Nil is one
// that was refused. Strings that stand in the claims as well count once.
func weight(p *authn.Principal) int {
	if p == nil {
		return weightPrincipal
	}
	lists := cap(p.Groups) + cap(p.Scopes) + cap(p.AMR) + 2*cap(p.Actors)
	return weightPrincipal + weightItem*lists + len(p.Key()) + weigh(p.Claims)
}

// weigh is about how many bytes a value of a JSON document takes.
func weigh(v any) int {
	switch v := v.(type) {
	case string:
		return weightItem + (len(v)+15)&^15
	case []any:
		n := 24 + weightItem*cap(v)
		for _, one := range v {
			n += weigh(one)
		}
		return n
	case map[string]any:
		n := weightMap + weightGroup*groups(len(v))
		for name, one := range v {
			n += (len(name)+15)&^15 + weigh(one)
		}
		return n
	case nil, bool:
		return 0
	}
	return weightBoxed
}

// groups is how many groups of eight a map of n members has: the first may be full, more are
// doubled when seven eighths of them are.
func groups(n int) int {
	if n <= 8 {
		return min(n, 1)
	}
	g := 2
	for n > 7*g {
		g *= 2
	}
	return g
}
