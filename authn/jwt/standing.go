package jwt

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Stands judges the principal of a token.
// It is asked of the principals of open streams: the token itself is not at hand, so that its
// claims and what was noted of it (origin) are judged again.
func (b *Scheme) Stands(p *authn.Principal) error {
	is := b.issuers[p.Issuer]
	if is == nil {
		return refuse(faultIssuer, errors.New("no longer configured"))
	}
	o, _ := p.Evidence().(*origin) // see Owns
	now := b.now()
	if is != o.issuer {
		if err := is.review(p, now); err != nil {
			return err
		}
	}
	// Where it is part of a combination, Expires may be its workload's. Either way the
	// call ends with it.
	if !p.Expires.IsZero() && !now.Before(p.Expires.Add(is.cfg.skew())) {
		return refuse(faultExpired, nil)
	}
	if k := o.key; k != nil && is.keys.withdrew(k) {
		return refuse(faultUnknownKey, errors.New("withdrawn"))
	}
	return is.stands(o.id)
}

// withdrew reports whether a key that was good is known to be good no more.
func (s *keySet) withdrew(k *jws.Key) bool {
	known := s.current.Load()
	return known != nil && !slices.ContainsFunc(known.list, func(c *jws.Key) bool { return c == k || c.Same(k) })
}

// review repeats the checks of a token, save for the signature, after the
// configuration of its issuer has changed.
// A principal that the same claims would make another today is refused, as rules would judge it
// wrongly.
func (is *issuer) review(p *authn.Principal, now time.Time) error {
	o, _ := p.Evidence().(*origin)
	switch {
	case is.header != p.Carrier:
		return refuse(faultIssuer, fmt.Errorf("tokens no longer come in %s", p.Carrier))
	case o.key == nil && is.cfg.Introspection == nil:
		return refuse(faultIssuer, errors.New("opaque tokens are no longer taken"))
	case o.key != nil && !slices.Contains(is.cfg.algs(), o.alg):
		return refuse(faultAlgorithm, fmt.Errorf("alg %s is no longer configured", o.alg))
	}
	err := is.checkAudience(p.Claims["aud"])
	if o.key != nil {
		err = is.check(&token{claims: p.Claims, header: header{access: o.access}}, now)
	}
	if err != nil {
		return err
	}
	again, _, err := is.principal(p.Claims)
	if err != nil {
		return err
	}
	if !again.Alike(p) {
		return refuse(faultClaims, errors.New("the same token makes another principal now"))
	}
	return nil
}
