package explain

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

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

func newSignIn(s *policy.StepUp) *verdict.SignIn {
	if s == nil {
		return nil
	}
	n := &verdict.SignIn{ACR: s.ACR, AMR: s.AMR}
	if s.MaxAge > 0 {
		n.MaxAge = secret.Duration(s.MaxAge).String()
	}
	return n
}
