package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Said is who calls, as it is written.
// The command line fills it from flags (--subject, --group, …) and the API from the member caller
// of a question.
type Said struct {
	authn.Principal // what needs no reading

	Key func(string) string // spells the name of what is wrong

	AuthTime, Workload string
	Actors             []string
}

// Identify settles who the caller is. A name that no issuer could have vouched for
// would be explained as one that nobody ever has.
//
// Without a subject the caller is anonymous, which the configuration has to allow, and then
// nothing else may be said. With one, the issuer has to be configured; it may be left out where
// there is only one. The method of authentication follows from the issuer.
//
// The error names the member or flag at fault, spelled by Key.
func (s *Said) Identify(c *schemes.Config, now time.Time) (*authn.Principal, error) {
	p := s.Principal
	if p.Subject == "" {
		if s.any() || !c.Anonymous {
			return nil, errors.New(s.Key("subject") + ": needed for a caller with a credential")
		}
		return &authn.Principal{Subject: "anonymous", Issuer: "anonymous", Method: "anonymous"}, nil
	}
	issuers := issuersOf(c)
	switch {
	case len(issuers) == 0:
		return nil, errors.New(s.Key("subject") + ": authn has none of " + schemes.Enumerate(schemes.Names(), "and") + ", so that no caller has a name")
	case p.Issuer == "" && len(issuers) == 1:
		p.Issuer = issuers[0]
	case !slices.Contains(issuers, p.Issuer):
		return nil, fmt.Errorf("%s: %q is none of %s", s.Key("issuer"), p.Issuer, strings.Join(issuers, ", "))
	}
	p.Method = schemes.MethodOf(p.Issuer)
	return &p, s.tell(&p, c, now)
}

// issuersOf lists who may vouch for callers.
// OIDC issuers stand for themselves, by URL; API keys and client certificates have the fixed names
// that rules use for them, api-keys and mtls.
func issuersOf(c *schemes.Config) []string {
	var issuers []string
	for _, i := range c.OIDC {
		issuers = append(issuers, i.Issuer)
	}
	return append(issuers, schemes.Issuers(c)...)
}

// any reports whether anything is said that a caller without a credential cannot have.
func (s *Said) any() bool {
	p := &s.Principal
	return p.Issuer != "" || p.Groups != nil || p.Scopes != nil || p.Client != "" || p.Tenant != "" ||
		p.ACR != "" || p.AMR != nil || p.KeyID != "" || p.Owner != "" || p.Proof != "" || p.Agents != nil ||
		s.AuthTime != "" || s.Workload != "" || s.Actors != nil || s.Claims != nil
}

// tell adds what has to be read to the principal.
// It reads the workload, the actors and the time of authentication.
func (s *Said) tell(p *authn.Principal, c *schemes.Config, now time.Time) error {
	if s.Workload != "" {
		// A workload comes with a user only where authn.combinations lets a client's credential
		// stand beside the user's. Explained without that, a rule about the workload would seem to
		// work.
		if !slices.ContainsFunc(c.Combinations, func(c authn.Combination) bool { return c.Client != "" }) {
			return errors.New(s.Key("workload") + ": none of authn.combinations has a client")
		}
		p.Workload = &authn.Principal{Subject: s.Workload}
	}
	for _, subject := range s.Actors {
		if subject == "" {
			return errors.New(s.Key("actor") + ": it has no name")
		}
		// No issuer is written for them: they are taken to be the caller's issuer's.
		p.Actors = append(p.Actors, authn.Actor{Subject: subject, Issuer: p.Issuer})
	}
	if s.AuthTime == "" {
		return nil
	}
	var err error
	// A moment, or how long ago: 10m is easier to type and means the same tomorrow.
	if p.AuthTime, err = time.Parse(time.RFC3339, s.AuthTime); err == nil {
		return nil
	}
	var ago quantity.Duration
	if ago.UnmarshalText([]byte(s.AuthTime)) != nil {
		return fmt.Errorf("%s: %q is neither a time (2006-01-02T15:04:05Z) nor how long ago (10m)", s.Key("auth-time"), s.AuthTime)
	}
	p.AuthTime = now.Add(-ago.Std())
	return nil
}
