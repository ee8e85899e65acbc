package jwt

import (
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// keys is an immutable snapshot of an issuer's key set (JWKS, RFC 7517 §5); keySet fetches the next one.
// skipped are keys of the set that cannot be used, with the reasons, for the log and for refusals.
type keys struct {
	list    []*jws.Key
	skipped []jws.Skipped
	asked   time.Time // when the fetch began: it shows no key published later
	fresh   time.Time // until when it may be used unasked
}

// find returns the keys that may have signed a token, one at least and jws.MaxSameID at most:
// those of its kid that are for its algorithm. Without a kid all that are for the algorithm
// are, unless there are more: trying them one after the other would let a caller make the
// gateway work.
func (k *keys) find(kid string, a jws.Algorithm) ([]*jws.Key, error) {
	var found []*jws.Key
	named := false
	for i, c := range k.list {
		if kid != "" && c.ID != kid {
			continue
		}
		named = true
		switch {
		case !c.Suits(a):
		// A slice of the list costs no allocation, and append behind it copies.
		case found == nil:
			found = k.list[i : i+1 : i+1] // nearly always the only one
		default:
			found = append(found, c)
		}
	}
	switch {
	case len(found) > jws.MaxSameID:
		return nil, refuse(faultUnknownKey, fmt.Errorf("no kid, and more than %d keys fit", jws.MaxSameID))
	case found != nil:
		return found, nil
	case kid != "" && named:
		return nil, refuse(faultAlgorithm, fmt.Errorf("key %.40q is not for %s", kid, a.Name))
	}
	for _, s := range k.skipped {
		if kid != "" && s.ID == kid {
			return nil, refuse(faultUnknownKey, fmt.Errorf("the issuer's key cannot be used: %s", s))
		}
	}
	return nil, refuse(faultUnknownKey, fmt.Errorf("kid %.40q", kid))
}

// has reports whether the issuer publishes a key under this kid.
func (k *keys) has(kid string) bool {
	return slices.ContainsFunc(k.list, func(c *jws.Key) bool { return c.ID == kid })
}

// lost reports whether a key of k is missing from next or has changed there, so
// that what was verified with k must be verified again.
func (k *keys) lost(next *keys) bool {
	for _, old := range k.list {
		if !slices.ContainsFunc(next.list, old.Same) {
			return true
		}
	}
	return false
}
