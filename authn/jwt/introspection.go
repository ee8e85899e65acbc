package jwt

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Introspection is authn.oidc[].introspection: the gateway asks an issuer about tokens (RFC
// 7662).
type Introspection struct {
	// URL of the introspection endpoint. Default: from the issuer's metadata
	// (RFC 8414 introspection_endpoint).
	URL secret.URL `yaml:"url,omitempty"`
	// ClientID and ClientSecret authenticate the gateway at this endpoint, by HTTP Basic.
	ClientID     string       `yaml:"clientID"`
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Always has the gateway also ask about tokens that it could verify itself, so that a
	// revocation counts within Cache. Default: false.
	Always bool `yaml:"always,omitempty"`
	// Cache is how long the gateway uses an answer, at most until the token expires; with 0s it
	// asks for each call. It remembers for at least 10s that a token is not good. Default: 10s; at
	// most 5m.
	Cache *quantity.Duration `yaml:"cache,omitempty"`
	// Timeout limits one request to the issuer. Default: 5s; at most 1m.
	Timeout quantity.Duration `yaml:"timeout,omitempty"`
}

// Defaults and bounds of Introspection.
const (
	defaultAnswerAge  = 10 * time.Second
	maxAnswerAge      = 5 * time.Minute
	defaultAskTimeout = 5 * time.Second
	maxAskTimeout     = time.Minute
)

// validate reports everything that is wrong, naming the keys below introspection.
// plaintext allows an endpoint without TLS.
func (c *Introspection) validate(plaintext bool) error {
	var errs []error
	if c.URL != "" {
		if _, err := address(c.URL, plaintext); err != nil {
			errs = append(errs, keypath.At(err, "url"))
		}
	}
	// Without them anybody's guess at a token could be tried out at the endpoint, which
	// RFC 7662 §2.1 has issuers refuse.
	if c.ClientID == "" {
		errs = append(errs, keypath.At(errors.New("missing"), "clientID"))
	}
	if c.ClientSecret.IsZero() {
		errs = append(errs, keypath.At(errors.New("missing"), "clientSecret"))
	}
	if d := c.age(); d < 0 || d > maxAnswerAge {
		errs = append(errs, keypath.At(fmt.Errorf("%s is not between 0 and %s", d, maxAnswerAge), "cache"))
	}
	if d := c.Timeout.Std(); d < 0 || d > maxAskTimeout {
		errs = append(errs, keypath.At(fmt.Errorf("%s is not between 0 and %s", d, maxAskTimeout), "timeout"))
	}
	return errors.Join(errs...)
}

// age is how long an answer is good.
func (c *Introspection) age() time.Duration {
	if c.Cache == nil {
		return defaultAnswerAge
	}
	return c.Cache.Std()
}

// patience is how long one question may take.
func (c *Introspection) patience() time.Duration {
	if c.Timeout == 0 {
		return defaultAskTimeout
	}
	return c.Timeout.Std()
}
