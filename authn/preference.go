package authn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// preferred authenticates a request by the credential of the first method in authn.prefer of
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
		p, err = c.byMethod(method, r)
		if !errors.Is(err, ErrNoCredentials) {
			return p, true, err
		}
	}
	return nil, false, nil
}

// byMethod authenticates the one credential of a method. Two of it are as ambiguous as ever:
// the order says nothing about which of them counts.
func (c *Chain) byMethod(method string, r *http.Request) (*Principal, error) {
	switch method {
	case namedMTLS:
		return c.certs.authenticate(r)
	case namedAPIKeys:
		if c.keys.twice(r) {
			return nil, ErrAmbiguous
		}
		return c.keys.authenticate(r)
	}
	var found *tokens
	for _, t := range c.bearer.headers {
		if _, ok := t.shown(r); !ok {
			continue
		}
		if found != nil {
			return nil, ErrAmbiguous
		}
		found = t
	}
	if found == nil {
		return nil, ErrNoCredentials
	}
	return found.authenticate(r)
}

// twice reports whether a request has a key in both places.
func (a *apiKeys) twice(r *http.Request) bool {
	token, ok := bearerToken(r)
	return a.bearer && ok && strings.HasPrefix(token, keyPrefix) && len(r.Header[a.header]) > 0
}

// validatePrefer checks that the methods are configured, and that the order can matter.
func (c *Config) validatePrefer() error {
	if len(c.Prefer) > 0 && len(c.Combinations) > 0 {
		return keypath.At(errors.New("combinations say already which credentials a call has"), "authn", "prefer")
	}
	var errs []error
	configured := map[string]bool{namedOIDC: len(c.OIDC) > 0, namedAPIKeys: c.APIKeys != nil, namedMTLS: c.MTLS != nil}
	for i, method := range c.Prefer {
		switch is, known := configured[method]; {
		case !known:
			errs = append(errs, keypath.At(fmt.Errorf("%q is neither oidc, apiKeys nor mtls", method), "authn", "prefer", i))
		case !is:
			errs = append(errs, keypath.At(fmt.Errorf("authn.%s is not configured", method), "authn", "prefer", i))
		case slices.Contains(c.Prefer[:i], method):
			errs = append(errs, keypath.At(fmt.Errorf("%s is listed twice", method), "authn", "prefer", i))
		}
	}
	return errors.Join(errs...)
}
