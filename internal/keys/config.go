package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is the keys: section.
type Config struct {
	// Signing are PEM files (PKCS #8, or SEC 1) with private keys, P-256 or Ed25519, one in each, at
	// most 16. The first signs. The gateway publishes all, so that receivers know the next key
	// before it signs, and the previous one while its signatures are valid. It reads the files again
	// when they change. Default: keys that the gateway generates in Dir.
	Signing []string `yaml:"signing,omitempty" file:"read"`
	// Sealing are files with keys for what the gateway encrypts (seals) and only its replicas open:
	// page tokens, secrets in the state. 32 bytes each, as 64 hex digits or base64. The first seals,
	// all open. The gateway reads them again when they change. Default: one that the gateway
	// generates in Dir. Renamed contexts of callers keep their names as long as the last file stays
	// the last.
	Sealing []string `yaml:"sealing,omitempty" file:"read"`
	// Dir is where the gateway keeps generated keys. Replicas must share it, or Signing. Removing a
	// key's file withdraws the key. Default: keys below server.dataDir.
	Dir string `yaml:"dir,omitempty" file:"write"`
	// Algorithm of generated keys: ES256 (default) or EdDSA. After a change, the gateway makes the
	// next key at once and publishes it for an hour or two before it signs.
	Algorithm string `yaml:"algorithm,omitempty" jsonschema:"enum=ES256,enum=EdDSA"`
	// Rotate is the age at which the next generated key takes over, at least 2h. The gateway
	// publishes it at least an hour before. Default: 90d. To never rotate, use 36500d.
	Rotate quantity.Duration `yaml:"rotate,omitempty"`
	// Retain is how long the gateway publishes a generated key that no longer signs, before it
	// removes the file: at least 10m, twice the life of the longest assertion, and at most 32 times
	// Rotate. Default: 1d.
	Retain quantity.Duration `yaml:"retain,omitempty"`
}

const (
	defaultRotate = 90 * 24 * time.Hour
	defaultRetain = 24 * time.Hour
	minRotate     = 2 * lead
	minRetain     = 10 * time.Minute
	// maxRetained times Rotate is the longest Retain: readers of key sets set limits,
	// often to 50 keys.
	maxRetained = 32
	maxFiles    = 16 // in Signing, and in Sealing
)

// Validate reports what cannot work, by the names of the keys. It reads no files.
func (c Config) Validate() error {
	return errors.Join(
		validateFiles("signing", "PEM file", c.Signing), validateFiles("sealing", "file with 32 bytes", c.Sealing),
		c.validateAlgorithm(), c.validateTimes())
}

// CheckFiles reports the files that Open would refuse. It makes none.
func (c Config) CheckFiles() error {
	var errs []error
	for i, path := range c.Signing {
		if _, err := readFile(path); err != nil {
			errs = append(errs, keypath.At(err, "signing", i))
		}
	}
	for i, path := range c.Sealing {
		if _, err := (sealing{files: []string{path}}).read(); err != nil {
			errs = append(errs, keypath.At(err, "sealing", i))
		}
	}
	return errors.Join(append(errs, c.checkGenerated())...)
}

// checkGenerated looks at the generated key that seals, where there is one.
func (c Config) checkGenerated() error {
	if len(c.Sealing) > 0 || c.Dir == "" {
		return nil
	}
	if _, err := (sealing{dir: c.Dir}).read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keypath.At(err, "dir")
	}
	return nil
}

// validateFiles looks at a list of paths by its key.
func validateFiles(key, what string, paths []string) error {
	var errs []error
	if len(paths) > maxFiles {
		errs = append(errs, keypath.At(fmt.Errorf("%d files, at most %d", len(paths), maxFiles), key))
	}
	for i, path := range paths {
		switch {
		case path == "":
			errs = append(errs, keypath.At(fmt.Errorf("is empty, write the path of a %s", what), key, i))
		case slices.Contains(paths[:i], path):
			errs = append(errs, keypath.At(fmt.Errorf("%q is there twice", path), key, i))
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateAlgorithm() error {
	if _, ok := generators[c.algorithm()]; !ok {
		return keypath.At(fmt.Errorf("%.40q is not available, write %s or %s", c.Algorithm, es256, edDSA), "algorithm")
	}
	return nil
}

func (c Config) validateTimes() error {
	rotate, retain := c.schedule().rotate, c.schedule().retain
	switch {
	case rotate < minRotate:
		return keypath.At(fmt.Errorf("%s is less than %s; the next key is published an hour before it signs", quantity.Duration(rotate), quantity.Duration(minRotate)), "rotate")
	case retain < minRetain:
		return keypath.At(fmt.Errorf("%s is less than %s; what was signed must be verifiable while it is good", quantity.Duration(retain), quantity.Duration(minRetain)), "retain")
	case retain/maxRetained > rotate:
		return keypath.At(fmt.Errorf("%s is more than %d times the %s of rotate; too many keys would be published", quantity.Duration(retain), maxRetained, quantity.Duration(rotate)), "retain")
	}
	return nil
}

// algorithm and schedule fill in the defaults.
func (c Config) algorithm() string {
	if c.Algorithm == "" {
		return es256
	}
	return c.Algorithm
}

func (c Config) schedule() schedule {
	s := schedule{algorithm: c.algorithm(), rotate: c.Rotate.Std(), retain: c.Retain.Std()}
	if s.rotate == 0 {
		s.rotate = defaultRotate
	}
	if s.retain == 0 {
		s.retain = defaultRetain
	}
	return s
}
