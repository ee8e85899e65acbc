package authn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Stands reports whether a principal that was authenticated a while ago, maybe by
// the chain of an earlier configuration, still would be: nil, or why not. It is for
// streams that outlive their call, asks nobody, and costs no more than a lookup
// unless the issuer's configuration has changed. Proofs of possession are of their
// moment and are not asked for again.
func (c *Chain) Stands(p *Principal) error {
	if p.Method != methodAnonymous && !c.combines(p) {
		return refuse(faultCombination, errors.New("authn.combinations has changed"))
	}
	if err := c.standsAlone(p); err != nil || p.Workload == nil {
		return err
	}
	return c.standsAlone(p.Workload)
}

func (c *Chain) standsAlone(p *Principal) error {
	switch {
	case p.Method == methodAnonymous && c.anonymous != nil:
		return nil
	case p.goesBy(namedAPIKeys) && c.keys != nil && c.keys.takes(p.Carrier):
		return c.keys.stands(p)
	case p.goesBy(namedMTLS) && c.certs != nil:
		return c.certs.stands(p)
	case p.goesBy(namedOIDC) && c.bearer != nil:
		return c.bearer.stands(p)
	}
	return refuse(faultScheme, errors.New("no longer configured"))
}

// takes reports whether keys may come in this header.
func (a *apiKeys) takes(header string) bool {
	return header == a.header || a.bearer && header == authorization
}

// stands judges the principal of a token.
func (b *bearer) stands(p *Principal) error {
	is := b.issuers[p.Issuer]
	if is == nil {
		return refuse(faultIssuer, errors.New("no longer configured"))
	}
	now := b.now()
	if is != p.origin.issuer {
		if err := is.review(p, now); err != nil {
			return err
		}
	}
	// Where it is part of a combination, Expires may be its workload's. Either way the
	// call ends with it.
	if !p.Expires.IsZero() && !now.Before(p.Expires.Add(is.cfg.skew())) {
		return refuse(faultExpired, nil)
	}
	if k := p.origin.key; k != nil && is.keys.withdrew(k) {
		return refuse(faultUnknownKey, errors.New("withdrawn"))
	}
	return is.stands(p)
}

// withdrew reports whether a key that was good is known to be good no more.
func (s *keySet) withdrew(k *jws.Key) bool {
	known := s.current.Load()
	return known != nil && !slices.ContainsFunc(known.list, func(c *jws.Key) bool { return c == k || c.Same(k) })
}

// review repeats the checks of a token, save for the signature, after the
// configuration of its issuer has changed.
func (is *issuer) review(p *Principal, now time.Time) error {
	o := p.origin
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
	if !again.alike(p) {
		return refuse(faultClaims, errors.New("the same token makes another principal now"))
	}
	return nil
}

// alike reports whether policies would see the same user in both.
func (p *Principal) alike(o *Principal) bool {
	return p.Subject == o.Subject && p.Client == o.Client && p.Tenant == o.Tenant && p.ACR == o.ACR &&
		p.AuthTime.Equal(o.AuthTime) && slices.Equal(p.Groups, o.Groups) && slices.Equal(p.Scopes, o.Scopes) &&
		slices.Equal(p.AMR, o.AMR) && slices.Equal(p.Actors, o.Actors)
}

// Token is the text of p's credential in the request that it was authenticated from,
// without the name of its scheme; "" when there is none. It must go nowhere but to
// whom the configuration says. A workload's token is that of p.Workload.
func (c *Chain) Token(p *Principal, h http.Header) string {
	if p == nil || p.Carrier == "" || len(h[p.Carrier]) != 1 {
		return ""
	}
	value := h[p.Carrier][0]
	if p.Carrier != authorization && p.goesBy(namedAPIKeys) {
		return value
	}
	shown, ok := readToken(value, p.Carrier != authorization)
	if !ok {
		return ""
	}
	return shown.token
}
