package explain

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// newCaller is a principal as the answer shows it: names as texts, the time of authentication in
// RFC 3339 and UTC.
func newCaller(p *authn.Principal) verdict.Caller {
	c := verdict.Caller{
		Subject: p.Subject, Issuer: p.Issuer, Client: p.Client, Tenant: p.Tenant,
		Groups: p.Groups, Scopes: p.Scopes, ACR: p.ACR, AMR: p.AMR, Claims: p.Claims,
	}
	if p.Workload != nil {
		c.Workload = p.Workload.Subject
	}
	for _, a := range p.Actors {
		c.Actors = append(c.Actors, a.Subject)
	}
	if !p.AuthTime.IsZero() {
		c.AuthTime = p.AuthTime.UTC().Format(time.RFC3339)
	}
	return c
}

// newSignIn is what another sign-in has to bring (RFC 9470); nil where none would help.
func newSignIn(s *policy.StepUp) *verdict.SignIn {
	if s == nil {
		return nil
	}
	n := &verdict.SignIn{ACR: s.ACR, AMR: s.AMR}
	if s.MaxAge > 0 {
		n.MaxAge = quantity.Duration(s.MaxAge).String()
	}
	return n
}
