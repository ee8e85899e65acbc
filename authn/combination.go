package authn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Combination is one entry of authn.combinations: the credentials that make a call together.
// Each is "oidc" (a token of any issuer), one issuer's address, "apiKeys" or "mtls". Two that
// are combined must not share a header. The gateway ignores a client certificate that no
// combination asks for. If a request matches several combinations, one of two credentials comes
// first, then the first in the list.
type Combination struct {
	// User is the credential that names the caller, who owns the tasks and whom rules are about.
	User string `yaml:"user"`
	// Client is the credential of the software that calls for the user, in Principal.Workload.
	// Default: none is needed, and none may come.
	Client string `yaml:"client,omitempty"`
}

// goesBy reports whether a combination means p's credential by name: that of a scheme, or
// the address of an issuer.
func (c *Chain) goesBy(p *Principal, name string) bool {
	if s := c.Scheme(name); s != nil {
		return s.Owns(p)
	}
	return p.Issuer == name
}

// combined is Authenticate where combinations are configured.
func (c *Chain) combined(r *http.Request) (*Principal, error) {
	found, err := c.all(r)
	if err != nil {
		return nil, err
	}
	var unread *Principal // stands for a certificate that is looked at when it is asked for
	if c.connection != nil {
		unread = c.connection.Unread(r)
	}
	user, client := c.match(found, unread)
	if user == nil {
		return c.unmatched(found)
	}
	for _, p := range []**Principal{&user, &client} {
		if *p == nil || *p != unread {
			continue
		}
		if *p, err = c.connection.Authenticate(r); err != nil {
			return nil, err
		}
	}
	return join(user, client), nil
}

// all authenticates every credential in the header of a request, each header at most
// once.
func (c *Chain) all(r *http.Request) ([]*Principal, error) {
	n := c.count(r.Header)
	if n > 2 || slices.ContainsFunc(c.headers, func(name string) bool { return len(r.Header[name]) > 1 }) {
		return nil, ErrAmbiguous
	}
	var found []*Principal
	for _, s := range c.carriers {
		p, err := s.Authenticate(r)
		if errors.Is(err, ErrNoCredentials) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	if len(found) < n {
		c.observe(ProviderUnknown, string(FaultScheme))
		return nil, Refuse(FaultScheme, ReasonScheme, nil)
	}
	return found, nil
}

// match finds the combination that takes all of found, and maybe the certificate too.
// user is nil when there is none.
func (c *Chain) match(found []*Principal, certificate *Principal) (user, client *Principal) {
	shown := found
	if certificate != nil {
		shown = append(slices.Clip(found), certificate)
	}
	for i := range c.combinations {
		u, w := c.take(&c.combinations[i], shown, len(found), certificate)
		if u != nil && (user == nil || client == nil && w != nil) {
			user, client = u, w
		}
	}
	return user, client
}

// take finds the two parts of a combination among the credentials shown, of which n
// are in headers and must not be left over.
func (c *Chain) take(k *Combination, shown []*Principal, n int, certificate *Principal) (user, client *Principal) {
	for _, u := range shown {
		if !c.goesBy(u, k.User) {
			continue
		}
		rest := n
		if u != certificate {
			rest--
		}
		if k.Client == "" && rest == 0 {
			return u, nil
		}
		for _, w := range shown {
			left := rest
			if w != certificate {
				left--
			}
			if k.Client != "" && w != u && c.goesBy(w, k.Client) && left == 0 {
				return u, w
			}
		}
	}
	return nil, nil
}

// unmatched says why the credentials of a request, good as they are, make no call.
func (c *Chain) unmatched(found []*Principal) (*Principal, error) {
	switch {
	case len(found) > 1:
		return nil, ErrAmbiguous
	case len(found) == 0 && c.anonymous != nil:
		return c.anonymous, nil
	case len(found) == 0:
		return nil, ErrNoCredentials
	}
	p := found[0]
	for i := range c.combinations {
		k := &c.combinations[i]
		missing := k.Client
		if !c.goesBy(p, k.User) {
			missing = k.User
		}
		if missing != "" && (c.goesBy(p, k.User) || c.goesBy(p, k.Client)) {
			return nil, c.incomplete(p, missing)
		}
	}
	c.observe(p.Issuer, string(FaultScheme))
	return nil, Refuse(FaultScheme, ReasonScheme, fmt.Errorf("%s is part of no combination", p.Issuer))
}

// incomplete refuses p because the credential of that name did not come with it. The
// challenge that says so is that of the missing one.
func (c *Chain) incomplete(p *Principal, missing string) error {
	c.observe(p.Issuer, string(FaultCombination))
	refused := Refuse(FaultCombination, ReasonCombination, fmt.Errorf("%s came without %s", p.Issuer, missing))
	refused.Code = "invalid_request" // what came is good
	for _, s := range c.schemes {
		if scheme, header, ok := s.Challenger(missing); ok {
			refused.Scheme, refused.Header = scheme, header
		}
	}
	return refused
}

// join makes one caller of a user and the workload that came with it, if any.
func join(user, client *Principal) *Principal {
	if client == nil {
		return user
	}
	p := *user
	p.Workload = client
	p.Expires = sooner(user.Expires, client.Expires)
	return &p
}

// sooner is the earlier of two ends of which zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// combines reports whether what p is made of makes a call under this configuration.
func (c *Chain) combines(p *Principal) bool {
	if len(c.combinations) == 0 {
		return p.Workload == nil
	}
	return slices.ContainsFunc(c.combinations, func(k Combination) bool {
		if p.Workload == nil {
			return c.goesBy(p, k.User) && k.Client == ""
		}
		return c.goesBy(p, k.User) && k.Client != "" && c.goesBy(p.Workload, k.Client)
	})
}

// preferred authenticates a request by the credential of the first scheme in authn.prefer of
// which it carries one. That one has to hold: where it is refused, no other is asked. ok is
// false when the request carries none of these methods.
func (c *Chain) preferred(r *http.Request) (p *Principal, ok bool, err error) {
	if len(c.prefer) == 0 {
		return nil, false, nil
	}
	if slices.ContainsFunc(c.headers, func(name string) bool { return len(r.Header[name]) > 1 }) {
		return nil, true, ErrAmbiguous
	}
	for _, method := range c.prefer {
		p, err = c.Scheme(method).Only(r)
		if !errors.Is(err, ErrNoCredentials) {
			return p, true, err
		}
	}
	return nil, false, nil
}
