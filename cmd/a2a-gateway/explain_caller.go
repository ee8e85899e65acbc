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

// said is who calls, as it is written.
type said struct {
	authn.Principal // what needs no reading

	key func(string) string // spells the name of what is wrong

	authTime, workload string
	actors             []string
	claims             []string // as name=value, or
	values             map[string]any
}

// describe declares the flags that say who calls.
func (s *said) describe(f *pflag.FlagSet) {
	s.key = flagged
	f.StringVar(&s.Subject, "subject", "", "caller's `subject`")
	f.StringVar(&s.Issuer, "issuer", "", "`issuer` of the caller's credential: an OIDC issuer, api-keys or mtls")
	f.StringSliceVar(&s.Groups, "group", nil, "`group` of the caller; repeatable")
	f.StringSliceVar(&s.Scopes, "scope", nil, "`scope` of the caller's credential; repeatable")
	f.StringVar(&s.Client, "client", "", "OAuth `client` of the caller")
	f.StringVar(&s.workload, "workload", "", "`subject` of the software's own credential beside the caller's")
	f.StringVar(&s.Tenant, "tenant", "", "`tenant` of the caller")
	f.StringArrayVar(&s.actors, "actor", nil, "`subject` that acts for the caller, the one that calls first; repeatable")
	f.StringVar(&s.ACR, "acr", "", "authentication context `class` of the caller's sign-in")
	f.StringSliceVar(&s.AMR, "amr", nil, "authentication `method` of the sign-in; repeatable")
	f.StringVar(&s.authTime, "auth-time", "", "`when` the sign-in was: a time as of RFC 3339, or how long ago (10m)")
	f.StringArrayVar(&s.claims, "claim", nil, "`name=value` in the credential; repeatable, several of one name are a list")
}

// flagged is the name of a flag, for errors.
func flagged(name string) string { return "--" + name }

// identify settles who the caller is. A name that no issuer could have vouched for
// would be explained as one that nobody ever has.
func (s *said) identify(c *authn.Config, now time.Time) (*authn.Principal, error) {
	p := s.Principal
	if p.Subject == "" {
		if s.any() || !c.Anonymous {
			return nil, errors.New(s.key("subject") + ": needed for a caller with a credential")
		}
		return &authn.Principal{Subject: "anonymous", Issuer: "anonymous", Method: "anonymous"}, nil
	}
	issuers := issuersOf(c)
	switch {
	case len(issuers) == 0:
		return nil, errors.New(s.key("subject") + ": authn has none of oidc, apiKeys and mtls, so that no caller has a name")
	case p.Issuer == "" && len(issuers) == 1:
		p.Issuer = issuers[0]
	case !slices.Contains(issuers, p.Issuer):
		return nil, fmt.Errorf("%s: %q is none of %s", s.key("issuer"), p.Issuer, strings.Join(issuers, ", "))
	}
	switch p.Issuer {
	case "api-keys":
		p.Method = "api-key"
	case "mtls":
		p.Method = "mtls"
	default:
		p.Method = "oidc"
	}
	return &p, s.tell(&p, c, now)
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

// any reports whether anything is said that a caller without a credential cannot have.
func (s *said) any() bool {
	p := &s.Principal
	return p.Issuer != "" || p.Groups != nil || p.Scopes != nil || p.Client != "" || p.Tenant != "" ||
		p.ACR != "" || p.AMR != nil || p.KeyID != "" || p.Owner != "" || p.Proof != "" || p.Agents != nil ||
		s.authTime != "" || s.workload != "" || s.actors != nil || s.claims != nil || s.values != nil
}

// tell adds what has to be read to the principal.
func (s *said) tell(p *authn.Principal, c *authn.Config, now time.Time) error {
	if s.workload != "" {
		if !slices.ContainsFunc(c.Combinations, func(c authn.Combination) bool { return c.Client != "" }) {
			return errors.New(s.key("workload") + ": none of authn.combinations has a client")
		}
		p.Workload = &authn.Principal{Subject: s.workload}
	}
	for _, subject := range s.actors {
		if subject == "" {
			return errors.New(s.key("actor") + ": it has no name")
		}
		p.Actors = append(p.Actors, authn.Actor{Subject: subject, Issuer: p.Issuer})
	}
	var err error
	if p.Claims, err = claimsOf(s.claims); err != nil {
		return err
	}
	if s.values != nil {
		p.Claims = s.values
	}
	if s.authTime == "" {
		return nil
	}
	if p.AuthTime, err = time.Parse(time.RFC3339, s.authTime); err == nil {
		return nil
	}
	var ago secret.Duration
	if ago.UnmarshalText([]byte(s.authTime)) != nil {
		return fmt.Errorf("%s: %q is neither a time (2006-01-02T15:04:05Z) nor how long ago (10m)", s.key("auth-time"), s.authTime)
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
