package authn

import "slices"

// Usage says how callers have to present access tokens, for the RFC 9728 metadata of
// the gateway. Without issuers there are none, and it is zero.
type Usage struct {
	Issuers []string // whose tokens are taken, in the order of configuration
	Bearer  bool     // some of them in Authorization, where RFC 6750 has them
	Bound   bool     // none that is not bound to its sender
	Proofs  []string // JWS algorithms of DPoP proofs
}

// Usage is how access tokens are taken.
func (c *Chain) Usage() Usage {
	if c.bearer == nil {
		return Usage{}
	}
	u := Usage{Issuers: c.Issuers(), Bound: true, Proofs: slices.Clone(profile.Algorithms)}
	u.Bearer = slices.ContainsFunc(c.bearer.headers, func(t *tokens) bool { return t.header == authorization })
	for _, is := range c.bearer.issuers {
		u.Bound = u.Bound && is.cfg.SenderConstrained
	}
	return u
}
