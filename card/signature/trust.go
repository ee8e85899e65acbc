package signature

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Limits of what is configured.
const (
	maxKeyFiles = 16
	maxJKU      = 16
)

// Trust says whose signatures count on an agent's card. A signature for which none of the
// sources has a key counts as none.
type Trust struct {
	// Required has the gateway refuse a card without a valid signature of a trusted key. Without
	// it, the default, the gateway uses such a card, and only reports the verdict.
	Required bool `yaml:"required"`

	// Keys are files with public keys, at most 16: PEM (PUBLIC KEY or CERTIFICATE), a JWK or a JWK
	// set. A certificate counts from its first day to its last. The gateway reads them when it
	// reads the configuration. Default: none.
	Keys []string `yaml:"keys,omitempty" file:"read"`

	// JWKS is the URL of a JWK set with the agent's keys. The gateway fetches it to verify a card.
	// It caches the set as long as Cache-Control says (30s to 1h, default 5m), and asks again for
	// keys that it lacks at most every 30s. While the URL is unreachable, the cached keys count
	// for another day. Default: none.
	JWKS secret.URL `yaml:"jwks,omitempty"`

	// JKU are the places from which the gateway may fetch a JWK set that a signature itself names,
	// at most 16. A place is a host ("keys.example.com", "*.example.com") or an https URL. A URL
	// that ends in "/" stands for everything below it. Anyone who may publish there can sign the
	// card. Default: none, and such signatures need a key from Keys or JWKS.
	JKU []string `yaml:"jku,omitempty"`

	// AllowPrivateNetworks permits non-public addresses for the hosts of JKU. JWKS may always have
	// one, because the operator wrote it. Default: false.
	AllowPrivateNetworks bool `yaml:"allowPrivateNetworks,omitempty"`

	// CA is a PEM file with certificates that the gateway trusts for JWKS and JKU, besides the
	// system's. Default: none.
	CA string `yaml:"ca,omitempty" file:"read"`
}

// IsZero reports whether nothing is configured: signatures are then not looked at.
func (t Trust) IsZero() bool {
	return !t.Required && len(t.Keys) == 0 && t.JWKS == "" && len(t.JKU) == 0
}

// Validate reports everything wrong with t, by the names of the keys. It reads no files.
// Errors carry the path of their key below the section.
func (t Trust) Validate() error {
	if t.IsZero() {
		return nil
	}
	errs := []error{t.validateKeys(), t.validateJKU()}
	if len(t.Keys) == 0 && t.JWKS == "" && len(t.JKU) == 0 {
		errs = append(errs, keypath.At(errors.New("no key could make a signature hold, write keys, jwks or jku"), "required"))
	}
	if t.JWKS != "" {
		if u, err := t.JWKS.Parse(); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
			u.User != nil || u.Fragment != "" {
			errs = append(errs, keypath.At(errors.New("is not an http or https URL without user information and fragment"), "jwks"))
		}
	}
	return errors.Join(errs...)
}

// validateKeys reports what is wrong with the list of files. What is in them is read by New.
func (t Trust) validateKeys() error {
	if len(t.Keys) > maxKeyFiles {
		return keypath.At(fmt.Errorf("%d files, at most %d", len(t.Keys), maxKeyFiles), "keys")
	}
	for i, path := range t.Keys {
		switch {
		case path == "":
			return keypath.At(errors.New("is empty, write the path of a file with public keys"), "keys", i)
		case slices.Contains(t.Keys[:i], path):
			return keypath.At(fmt.Errorf("%q is there twice", path), "keys", i)
		}
	}
	return nil
}

// validateJKU reports which of the places cannot be one.
func (t Trust) validateJKU() error {
	if len(t.JKU) > maxJKU {
		return keypath.At(fmt.Errorf("%d places, at most %d", len(t.JKU), maxJKU), "jku")
	}
	for i, place := range t.JKU {
		if err := t.validatePlace(place); err != nil {
			return keypath.At(err, "jku", i)
		}
	}
	return nil
}

// validatePlace has egress judge hosts and URLs, since it is what will call them.
func (t Trust) validatePlace(place string) error {
	options := egress.Options{AllowPrivate: t.AllowPrivateNetworks}
	if !strings.Contains(place, "/") {
		options.AllowHosts = []string{place}
		_, err := egress.New(options)
		return keypath.Trim(err, "allow") // its own key, which is not here
	}
	client, err := egress.New(options)
	if err != nil {
		return err
	}
	if u, err := client.Check(place); err != nil || u.RawQuery != "" {
		return fmt.Errorf("%.200q is neither a host nor an https URL without a query: %w", secret.URL(place).String(), err)
	}
	return nil
}
