package policy

import (
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Authentication is `authentication:` of a rule. At least one key is given.
type Authentication struct {
	// ACR are authentication context classes, any of them, the preferred one first.
	ACR []string `yaml:"acr"`
	// AMR are authentication methods (RFC 8176), all of them: mfa, hwk, otp …
	AMR []string `yaml:"amr"`
	// MaxAge is how long ago the user may have authenticated (auth_time), in whole
	// seconds. A credential that does not say is too old, and so is one that says more
	// than a minute ahead of the gateway's clock.
	MaxAge secret.Duration `yaml:"maxAge"`
}

// ahead is how far the clock of who wrote auth_time may be ahead of ours.
const ahead = time.Minute

// lacks names the first key that does not hold, "" when all do. Without a time of the
// call no authentication is recent.
func (a *Authentication) lacks(p *authn.Principal, now time.Time) string {
	switch {
	case a == nil:
		return ""
	case a.ACR != nil && !slices.Contains(a.ACR, p.ACR):
		return "authentication.acr"
	case !within(a.AMR, p.AMR):
		return "authentication.amr"
	case a.MaxAge == 0:
		return ""
	}
	if age := now.Sub(p.AuthTime); now.IsZero() || p.AuthTime.IsZero() || age > a.MaxAge.Std() || age < -ahead {
		return "authentication.maxAge"
	}
	return ""
}

// Consent is `consent:` of a rule. Exactly one of Scope and Claim is given.
type Consent struct {
	// Scope that stands for the user's consent.
	Scope string `yaml:"scope"`
	// Claim, by name or path, that has to have Value, or hold it in a list; without
	// Value it has to be true.
	Claim string `yaml:"claim"`
	Value string `yaml:"value"`
}

// consent is Consent, compiled.
type consent struct {
	scope string
	claim claim  // where there is no scope
	label string // what Decision.Consent calls it
}

func newConsent(src *Consent) *consent {
	switch {
	case src == nil:
		return nil
	case src.Scope != "":
		return &consent{scope: src.Scope, label: "scope " + src.Scope}
	case src.Value != "":
		return &consent{claim: claim{path: src.Claim, values: []string{src.Value}}, label: "claim " + src.Claim + "=" + src.Value}
	}
	return &consent{claim: claim{path: src.Claim, values: []string{"true"}}, label: "claim " + src.Claim}
}

// lacks names the key that does not hold, "" where the user has agreed.
func (c *consent) lacks(p *authn.Principal) string {
	switch {
	case c == nil:
	case c.scope != "" && !slices.Contains(p.Scopes, c.scope):
		return "consent.scope"
	case c.scope == "" && !c.claim.holds(p, false):
		return "consent.claim"
	}
	return ""
}

// StepUp is the authentication that a denied call needs and does not have (RFC 9470):
// all of it, also what the caller's has, since the next one has to be as good.
type StepUp struct {
	ACR    []string      // any of them would do; nil: none is asked for
	AMR    []string      // all of them are needed; for the record, RFC 9470 cannot say it
	MaxAge time.Duration // 0: none is set
}

// add asks for what a further rule does as well. It reports false where no single
// authentication can satisfy both.
func (s *StepUp) add(a *Authentication) bool {
	if a == nil {
		return true
	}
	if a.ACR != nil && s.ACR == nil {
		s.ACR = slices.Clone(a.ACR)
	} else if a.ACR != nil {
		s.ACR = slices.DeleteFunc(s.ACR, func(class string) bool { return !slices.Contains(a.ACR, class) })
	}
	for _, method := range a.AMR {
		if !slices.Contains(s.AMR, method) {
			s.AMR = append(s.AMR, method)
		}
	}
	if limit := a.MaxAge.Std(); limit > 0 && (s.MaxAge == 0 || limit < s.MaxAge) {
		s.MaxAge = limit
	}
	return s.ACR == nil || len(s.ACR) > 0
}
