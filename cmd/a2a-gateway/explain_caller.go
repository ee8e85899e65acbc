package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// said are the flags about the caller that have to be read before they say something.
type said struct {
	authTime, workload string
	actors, claims     []string
}

// describe declares the flags that say who calls.
func (q *inquiry) describe(f *pflag.FlagSet) {
	p := &q.caller
	f.StringVar(&p.Subject, "subject", "", "caller's `subject`")
	f.StringVar(&p.Issuer, "issuer", "", "`issuer` of the caller's credential: an OIDC issuer, api-keys or mtls")
	f.StringSliceVar(&p.Groups, "group", nil, "`group` of the caller; repeatable")
	f.StringSliceVar(&p.Scopes, "scope", nil, "`scope` of the caller's credential; repeatable")
	f.StringVar(&p.Client, "client", "", "OAuth `client` of the caller")
	f.StringVar(&q.said.workload, "workload", "", "`subject` of the software's own credential beside the caller's")
	f.StringVar(&p.Tenant, "tenant", "", "`tenant` of the caller")
	f.StringArrayVar(&q.said.actors, "actor", nil, "`subject` that acts for the caller, the one that calls first; repeatable")
	f.StringVar(&p.ACR, "acr", "", "authentication context `class` of the caller's sign-in")
	f.StringSliceVar(&p.AMR, "amr", nil, "authentication `method` of the sign-in; repeatable")
	f.StringVar(&q.said.authTime, "auth-time", "", "`when` the sign-in was: a time as of RFC 3339, or how long ago (10m)")
	f.StringArrayVar(&q.said.claims, "claim", nil, "`name=value` in the credential; repeatable, several of one name are a list")
}

// identify settles who the caller is. A name that no issuer could have vouched for
// would be explained as one that nobody ever has.
func (q *inquiry) identify(c *authn.Config) error {
	p := &q.caller
	if p.Subject == "" {
		if p.Issuer != "" || p.Groups != nil || p.Scopes != nil || p.Client != "" || p.Tenant != "" ||
			p.ACR != "" || p.AMR != nil || q.said.any() || !c.Anonymous {
			return errors.New("--subject: needed for a caller with a credential")
		}
		p.Subject, p.Issuer, p.Method = "anonymous", "anonymous", "anonymous"
		return nil
	}
	issuers := issuersOf(c)
	switch {
	case len(issuers) == 0:
		return errors.New("--subject: authn has none of oidc, apiKeys and mtls, so that no caller has a name")
	case p.Issuer == "" && len(issuers) == 1:
		p.Issuer = issuers[0]
	case !slices.Contains(issuers, p.Issuer):
		return fmt.Errorf("--issuer: %q is none of %s", p.Issuer, strings.Join(issuers, ", "))
	}
	return q.said.tell(p, c, q.now)
}

// issuersOf lists who may vouch for callers.
func issuersOf(c *authn.Config) []string {
	var issuers []string
	for _, i := range c.OIDC {
		issuers = append(issuers, i.Issuer)
	}
	if c.APIKeys != nil {
		issuers = append(issuers, "api-keys")
	}
	if c.MTLS != nil {
		issuers = append(issuers, "mtls")
	}
	return issuers
}

func (s *said) any() bool {
	return s.authTime != "" || s.workload != "" || s.actors != nil || s.claims != nil
}

// tell adds what the flags say to the principal.
func (s *said) tell(p *authn.Principal, c *authn.Config, now time.Time) error {
	if s.workload != "" {
		if !slices.ContainsFunc(c.Combinations, func(c authn.Combination) bool { return c.Client != "" }) {
			return errors.New("--workload: none of authn.combinations has a client")
		}
		p.Workload = &authn.Principal{Subject: s.workload}
	}
	for _, subject := range s.actors {
		if subject == "" {
			return errors.New("--actor: it has no name")
		}
		p.Actors = append(p.Actors, authn.Actor{Subject: subject, Issuer: p.Issuer})
	}
	var err error
	if p.Claims, err = claimsOf(s.claims); err != nil || s.authTime == "" {
		return err
	}
	if p.AuthTime, err = time.Parse(time.RFC3339, s.authTime); err == nil {
		return nil
	}
	var ago secret.Duration
	if ago.UnmarshalText([]byte(s.authTime)) != nil {
		return fmt.Errorf("--auth-time: %q is neither a time (2006-01-02T15:04:05Z) nor how long ago (10m)", s.authTime)
	}
	p.AuthTime = now.Add(-ago.Std())
	return nil
}

// claimsOf reads name=value; several values of a name are a list. An address as a name
// may have no equals sign, which ends it.
func claimsOf(flags []string) (map[string]any, error) {
	var claims map[string]any
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--claim: %q is not name=value", flag)
		}
		if claims == nil {
			claims = map[string]any{}
		}
		switch had := claims[name].(type) {
		case nil:
			claims[name] = value
		case []any:
			claims[name] = append(had, value)
		default:
			claims[name] = []any{had, value}
		}
	}
	return claims, nil
}
