package authn

import (
	"errors"
	"net/http"
	"slices"
)

// Stands reports whether a principal that was authenticated a while ago, maybe by
// the chain of an earlier configuration, still would be: nil, or why not. It is for
// streams that outlive their call, asks nobody, and costs no more than a lookup
// unless the issuer's configuration has changed. Proofs of possession are of their
// moment and are not asked for again.
func (c *Chain) Stands(p *Principal) error {
	if p.Method != methodAnonymous && !c.combines(p) {
		return newRefused(faultCombination, reasonCombination, errors.New("authn.combinations has changed"))
	}
	if err := c.standsAlone(p); err != nil || p.Workload == nil {
		return err
	}
	return c.standsAlone(p.Workload)
}

func (c *Chain) standsAlone(p *Principal) error {
	if p.Method == methodAnonymous && c.anonymous != nil {
		return nil
	}
	for _, s := range c.schemes {
		if s.Owns(p) {
			return s.Stands(p)
		}
	}
	return errUnconfigured()
}

// errUnconfigured refuses a principal of a scheme that is gone.
func errUnconfigured() error {
	return newRefused(faultScheme, reasonScheme, errors.New("no longer configured"))
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
	shown, ok := readToken(value, p.Carrier != authorization)
	if !ok {
		return ""
	}
	return shown.token
}
