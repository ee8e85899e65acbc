package schemes

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// validateCombinations checks names, and that two credentials can come together.
func (c *Config) validateCombinations() error {
	var errs []error
	seen := make(map[authn.Combination]bool, len(c.Combinations))
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

func (c *Config) validateCombination(k authn.Combination) error {
	users, ok := c.places(k.User, k.Client)
	if !ok {
		return keypath.At(notConfigured(k.User), "user")
	}
	if k.Client == "" {
		return nil
	}
	clients, ok := c.places(k.Client, k.User)
	switch {
	case !ok:
		return keypath.At(notConfigured(k.Client), "client")
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

// notConfigured is the error about a name that stands for no credential.
func notConfigured(name string) error {
	return fmt.Errorf("%q is neither %s, or not configured", name, Enumerate(append(Names(), "an issuer's address"), "nor"))
}

// places are the headers that the credential of that name comes in, "" for a
// certificate, where an issuer that is the other part does not count. The result is
// false when the name is not configured.
func (c *Config) places(name, other string) ([]string, bool) {
	var headers []string
	known := false
	for i := range c.OIDC {
		is := &c.OIDC[i]
		if name != jwt.Name && name != is.Issuer {
			continue
		}
		known = true
		if name == is.Issuer || other != is.Issuer {
			headers = append(headers, is.HeaderName())
		}
	}
	switch {
	case name == clientcert.Name && c.MTLS != nil:
		return []string{""}, true
	case name == apikey.Name && c.APIKeys != nil && c.APIKeys.Bearer:
		return []string{c.APIKeys.HeaderName(), credential.Authorization}, true
	case name == apikey.Name && c.APIKeys != nil:
		return []string{c.APIKeys.HeaderName()}, true
	}
	return headers, known
}

// validatePrefer checks that the methods are configured, and that the order can matter.
func (c *Config) validatePrefer() error {
	if len(c.Prefer) > 0 && len(c.Combinations) > 0 {
		return keypath.At(errors.New("combinations say already which credentials a call has"), "authn", "prefer")
	}
	var errs []error
	configured := map[string]bool{}
	for _, r := range All() {
		configured[r.Name] = r.Configured(c)
	}
	for i, method := range c.Prefer {
		switch is, known := configured[method]; {
		case !known:
			errs = append(errs, keypath.At(fmt.Errorf("%q is neither %s", method, Enumerate(Names(), "nor")), "authn", "prefer", i))
		case !is:
			errs = append(errs, keypath.At(fmt.Errorf("authn.%s is not configured", method), "authn", "prefer", i))
		case slices.Contains(c.Prefer[:i], method):
			errs = append(errs, keypath.At(fmt.Errorf("%s is listed twice", method), "authn", "prefer", i))
		}
	}
	return errors.Join(errs...)
}
