package upstream

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// Validate reports what cannot work, naming the key.
func (c Config) Validate() error {
	if err := credentials.Validate(c.Credentials); err != nil {
		return err
	}
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		return keypath.At(keypath.Point(errors.New("certificate and key go together"), "certificate"), "tls")
	}
	if err := c.Egress.Validate(); err != nil {
		return keypath.At(err, "egress")
	}
	return keypath.At(c.Load.validate(), "load")
}

// wrong is an error at a key below the one that is being validated: its name, or a path.
func wrong(key any, format string, args ...any) error {
	return keypath.At(fmt.Errorf(format, args...), key)
}

func oneOf(s string, known ...string) bool { return slices.Contains(known, s) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
