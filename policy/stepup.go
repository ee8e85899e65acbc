package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// onAuthentication is the condition on how the user signed in. A call that lacks nothing else is
// answered with what to sign in with (step-up authentication, RFC 9470).
var onAuthentication = condition{
	key: "authentication", about: ofSignIn,
	holds: "the user has signed in so; only in allow rules ([identity](identity.md))",
	compile: func(_ *compiler, r *rule) []error {
		a := r.source.Authentication
		r.signIn.authentication = a
		return append(a.check(), r.source.onlyAllows("authentication", a != nil)...)
	},
	has: func(r *rule) bool { return r.signIn.authentication != nil },
	// Its age is counted from when the stream began: time alone does not end one.
	signIn: func(r *rule, p *authn.Principal, begun time.Time) string {
		return r.signIn.authentication.lacks(p, begun)
	},
	covers: func(r, other *rule) bool { return r.signIn.authentication.covers(other.signIn.authentication) },
	obtain: func(r *rule, p *authn.Principal, begun time.Time, d demand) (demand, bool) {
		d.lacks = d.lacks || r.signIn.authentication.lacks(p, begun) != ""
		// Those that hold are asked for again: a new authentication must not lose them.
		ok := d.step.add(r.signIn.authentication)
		return d, ok
	},
}

// onlyAllows reports a condition in a rule that denies, or speaks of extensions only: it has
// nothing to offer to a caller who signs in once more.
func (r *Rule) onlyAllows(key string, has bool) []error {
	if !has || r.Effect == "allow" {
		return nil
	}
	return []error{keypath.Point(errors.New(key+" is for rules with effect allow"), key)}
}

// Authentication is `authentication:` of a rule. It needs at least one key.
type Authentication struct {
	// ACR are authentication context classes, the preferred one first; one match is enough.
	ACR []string `yaml:"acr"`
	// AMR are authentication methods (RFC 8176); the user must have used all: mfa, hwk, otp …
	AMR []string `yaml:"amr"`
	// MaxAge is how long ago the user may have authenticated (auth_time), in whole seconds. A
	// credential without that time is too old, and so is one whose time is more than a minute ahead
	// of the gateway's clock.
	MaxAge quantity.Duration `yaml:"maxAge"`
}

// ahead is how far the clock of who wrote auth_time may be ahead of ours.
const ahead = time.Minute

// check returns what is wrong with what a rule asks of the user's authentication.
func (a *Authentication) check() []error {
	if a == nil {
		return nil
	}
	var problems []error
	if a.ACR == nil && a.AMR == nil && a.MaxAge == 0 {
		problems = append(problems, keypath.Point(errors.New("authentication has none of acr, amr and maxAge"), "authentication"))
	}
	for _, l := range []struct {
		key   string
		items []string
	}{{"acr", a.ACR}, {"amr", a.AMR}} {
		if l.items != nil && len(l.items) == 0 {
			problems = append(problems, keypath.Point(fmt.Errorf("authentication.%s is empty; leave it out to mean any", l.key), "authentication", l.key))
		}
		for i, item := range l.items {
			if !token(item) {
				problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is not a word without spaces, "+
					"quotes and backslashes", item), i), "authentication", l.key))
			} else if slices.Contains(l.items[:i], item) {
				problems = append(problems, keypath.Point(fmt.Errorf("authentication.%s has %q twice", l.key, item), "authentication", l.key, i))
			}
		}
	}
	if d := a.MaxAge.Std(); d < 0 || d%time.Second != 0 { // max_age has no fractions
		problems = append(problems, keypath.At(fmt.Errorf("%s is not whole seconds", d), "authentication", "maxAge"))
	}
	return problems
}

// token reports whether a word can stand in a challenge's list of acr_values or scopes
// (RFC 6749 §3.3).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}

// covers reports whether a asks for no more than other does, which may be nil.
func (a *Authentication) covers(other *Authentication) bool {
	return other != nil && pattern.Widens(a.ACR, other.ACR) && pattern.Within(a.AMR, other.AMR) && looser(int64(a.MaxAge), int64(other.MaxAge))
}

// lacks names the first key that does not hold, "" when all do. Without a time of the
// call no authentication is recent.
func (a *Authentication) lacks(p *authn.Principal, now time.Time) string {
	switch {
	case a.ACR != nil && !slices.Contains(a.ACR, p.ACR):
		return "authentication.acr"
	case !pattern.Within(a.AMR, p.AMR):
		return "authentication.amr"
	case a.MaxAge == 0:
		return ""
	}
	if age := now.Sub(p.AuthTime); now.IsZero() || p.AuthTime.IsZero() || age > a.MaxAge.Std() || age < -ahead {
		return "authentication.maxAge"
	}
	return ""
}

// onConsent is the condition on what the user has agreed to.
var onConsent = condition{
	key: "consent", about: ofSignIn, holds: "the user has agreed to it; only in allow rules",
	compile: func(_ *compiler, r *rule) []error {
		c := r.source.Consent
		r.signIn.consent = newConsent(c)
		return append(c.check(), r.source.onlyAllows("consent", c != nil)...)
	},
	has:    func(r *rule) bool { return r.signIn.consent != nil },
	signIn: func(r *rule, p *authn.Principal, _ time.Time) string { return r.signIn.consent.lacks(p) },
	// Two consents are the same or have nothing to do with each other.
	covers: func(r, other *rule) bool {
		return other.signIn.consent != nil && *r.source.Consent == *other.source.Consent
	},
	obtain: func(r *rule, p *authn.Principal, _ time.Time, d demand) (demand, bool) {
		if r.signIn.consent.scope != "" {
			d.scopes = appendMissing(d.scopes, []string{r.signIn.consent.scope}, p)
			return d, true
		}
		return d, r.signIn.consent.lacks(p) == "" // nothing is known to bring a claim
	},
	asks: func(src *Rule) Facts { return Facts{Claims: src.Consent != nil && src.Consent.Claim != ""} },
}

// Consent is `consent:` of a rule. It needs exactly one of Scope and Claim.
type Consent struct {
	// Scope that stands for the user's consent.
	Scope string `yaml:"scope"`
	// Claim is the name or path of a claim that has to have Value, or hold it in a list. Without
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

// newConsent compiles it, nil where a rule asks for none. Without a value the claim has to be
// true.
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

// check returns what is wrong with what the user has to have agreed to.
func (c *Consent) check() []error {
	var err error
	switch {
	case c == nil:
		return nil
	case (c.Scope == "") == (c.Claim == ""):
		err = keypath.Point(errors.New("consent needs exactly one of scope and claim"), "consent")
	case c.Scope != "" && c.Value != "":
		err = keypath.Point(errors.New("consent.value is for a claim"), "consent", "value")
	case c.Scope != "" && !token(c.Scope):
		err = keypath.At(fmt.Errorf("%q is not one scope", c.Scope), "consent", "scope")
	default:
		return nil
	}
	return []error{err}
}

// lacks names the key that does not hold, "" where the user has agreed.
func (c *consent) lacks(p *authn.Principal) string {
	switch {
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
