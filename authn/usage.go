package authn

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
	for _, s := range c.schemes {
		if s, ok := s.(interface{ Usage() Usage }); ok {
			return s.Usage()
		}
	}
	return Usage{}
}

// Issuers are the configured OIDC issuers in order, for RFC 9728 metadata and the
// security schemes of served cards.
func (c *Chain) Issuers() []string { return c.Usage().Issuers }
