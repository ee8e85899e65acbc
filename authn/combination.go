package authn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Combination is one entry of authn.combinations: the credentials that make a call
// together. Each is "oidc" (a token of any issuer), one issuer's address, "apiKeys" or
// "mtls". Two that are combined must not share a header. A client certificate that no
// combination asks for is ignored; of several that a request matches, one that takes
// two credentials comes first, then the one that stands first.
type Combination struct {
	// User is the credential that names the caller: tasks are its, and rules are about
	// it.
	User string `yaml:"user"`
	// Client is the credential of the software that calls, in Principal.Workload.
	// Default: none is needed, and none may come.
	Client string `yaml:"client,omitempty"`
}

// Names of credentials in a Combination, beside addresses of issuers.
const (
	namedOIDC    = "oidc"
	namedAPIKeys = "apiKeys"
	namedMTLS    = "mtls"
)

// goesBy reports whether a combination means this credential by name.
func (p *Principal) goesBy(name string) bool {
	switch name {
	case namedAPIKeys:
		return p.Issuer == issuerAPIKeys
	case namedMTLS:
		return p.Issuer == namedMTLS
	case namedOIDC:
		return p.origin != nil
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
	if c.certs != nil && r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		unread = &Principal{Issuer: namedMTLS}
	}
	user, client := c.match(found, unread)
	if user == nil {
		return c.unmatched(found)
	}
	for _, p := range []**Principal{&user, &client} {
		if *p == nil || *p != unread {
			continue
		}
		if *p, err = c.certs.authenticate(r); err != nil {
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
	for _, s := range c.schemes {
		p, err := s.authenticate(r)
		if errors.Is(err, ErrNoCredentials) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	if len(found) < n {
		c.observe(providerUnknown, string(faultScheme))
		return nil, refuse(faultScheme, nil)
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
		k := &c.combinations[i]
		u, w := k.take(shown, len(found), certificate)
		if u != nil && (user == nil || client == nil && w != nil) {
			user, client = u, w
		}
	}
	return user, client
}

// take finds the two parts of a combination among the credentials shown, of which n
// are in headers and must not be left over.
func (k *Combination) take(shown []*Principal, n int, certificate *Principal) (user, client *Principal) {
	for _, u := range shown {
		if !u.goesBy(k.User) {
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
			if k.Client != "" && w != u && w.goesBy(k.Client) && left == 0 {
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
		if !p.goesBy(k.User) {
			missing = k.User
		}
		if missing != "" && (p.goesBy(k.User) || p.goesBy(k.Client)) {
			return nil, c.incomplete(p, missing)
		}
	}
	c.observe(p.Issuer, string(faultScheme))
	return nil, refuse(faultScheme, fmt.Errorf("%s is part of no combination", p.Issuer))
}

// incomplete refuses p because the credential of that name did not come with it. The
// challenge that says so is that of the missing one.
func (c *Chain) incomplete(p *Principal, missing string) error {
	c.observe(p.Issuer, string(faultCombination))
	refused := refuse(faultCombination, fmt.Errorf("%s came without %s", p.Issuer, missing))
	refused.Code = "invalid_request" // what came is good
	switch {
	case missing == namedAPIKeys:
		refused.Scheme = schemeAPIKey
	case c.bearer != nil && c.bearer.issuers[missing] != nil:
		if h := c.bearer.issuers[missing].header; h != authorization {
			refused.header = h
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
			return p.goesBy(k.User) && k.Client == ""
		}
		return p.goesBy(k.User) && k.Client != "" && p.Workload.goesBy(k.Client)
	})
}

// validateCombinations checks names, and that two credentials can come together.
func (c *Config) validateCombinations() error {
	var errs []error
	seen := make(map[Combination]bool, len(c.Combinations))
	for i, k := range c.Combinations {
		if err := c.validateCombination(k); err != nil {
			errs = append(errs, keypath.At(err, "authn", "combinations", i))
		}
		if seen[k] {
			errs = append(errs, keypath.At(errors.New("listed twice"), "authn", "combinations", i))
		}
		seen[k] = true
	}
	return errors.Join(errs...)
}

func (c *Config) validateCombination(k Combination) error {
	users, ok := c.places(k.User, k.Client)
	if !ok {
		return keypath.At(fmt.Errorf("%q is neither oidc, apiKeys, mtls nor an issuer's address, or not configured", k.User), "user")
	}
	if k.Client == "" {
		return nil
	}
	clients, ok := c.places(k.Client, k.User)
	switch {
	case !ok:
		return keypath.At(fmt.Errorf("%q is neither oidc, apiKeys, mtls nor an issuer's address, or not configured", k.Client), "client")
	case k.Client == k.User:
		return keypath.At(errors.New("the same as user"), "client")
	}
	for _, u := range users {
		if slices.ContainsFunc(clients, func(w string) bool { return w != u }) {
			return nil
		}
	}
	return keypath.At(errors.New("comes in the same header as user"), "client")
}

// places are the headers that the credential of that name comes in, "" for a
// certificate, where an issuer that is the other part does not count. The result is
// false when the name is not configured.
func (c *Config) places(name, other string) ([]string, bool) {
	var headers []string
	known := false
	for i := range c.OIDC {
		is := &c.OIDC[i]
		if name != namedOIDC && name != is.Issuer {
			continue
		}
		known = true
		if name == is.Issuer || other != is.Issuer {
			headers = append(headers, is.header())
		}
	}
	switch {
	case name == namedMTLS && c.MTLS != nil:
		return []string{""}, true
	case name == namedAPIKeys && c.APIKeys != nil && c.APIKeys.Bearer:
		return []string{c.APIKeys.header(), authorization}, true
	case name == namedAPIKeys && c.APIKeys != nil:
		return []string{c.APIKeys.header()}, true
	}
	return headers, known
}
