package authn

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// profile has the closed list of what tokens and proofs can be signed with. There is no
// HMAC and no "none" in it, and no option adds one.
var profile = jws.Profile{Algorithms: []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}}

// keys is an immutable snapshot of an issuer's key set.
type keys struct {
	list  []*jws.Key
	asked time.Time // when the fetch began: it shows no key published later
	fresh time.Time // until when it may be used unasked
}

// find returns the key that a token asks for. A token without kid is served only
// when there is no choice: trying keys one after the other would let a caller make
// the gateway work.
func (k *keys) find(kid string, a jws.Algorithm) (*jws.Key, error) {
	var found *jws.Key
	for _, c := range k.list {
		switch {
		case kid != "" && c.ID == kid && !c.Suits(a):
			return nil, refuse(faultAlgorithm, fmt.Errorf("key %.40q is not for %s", kid, a.Name))
		case kid != "" && c.ID == kid:
			return c, nil
		case kid == "" && c.Suits(a) && found != nil:
			return nil, refuse(faultUnknownKey, errors.New("no kid, and several keys fit"))
		case kid == "" && c.Suits(a):
			found = c
		}
	}
	if found == nil {
		return nil, refuse(faultUnknownKey, fmt.Errorf("kid %.40q", kid))
	}
	return found, nil
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
