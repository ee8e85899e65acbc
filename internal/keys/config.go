package keys

import "github.com/a2a-gateway/a2a-gateway/internal/secret"

// Config is the keys: section.
type Config struct {
	// Signing are PEM files (PKCS #8, or SEC 1) with private keys, P-256 or Ed25519. The
	// first signs; all are published, so that the next one is known before it signs and
	// the last one as long as anything signed with it is good. The files are read again
	// when they change. Default: keys that the gateway generates in Dir.
	Signing []string `yaml:"signing,omitempty"`
	// Dir is where generated keys are kept. Replicas must share it, or Signing. Default:
	// keys below server.dataDir.
	Dir string `yaml:"dir,omitempty"`
	// Algorithm of generated keys: ES256 (default) or EdDSA.
	Algorithm string `yaml:"algorithm,omitempty"`
	// Rotate is the age at which the next generated key takes over. It is published an
	// hour before. Default: 90d. 0s is the default too; negative: never.
	Rotate secret.Duration `yaml:"rotate,omitempty"`
	// Retain is how long a generated key that no longer signs stays published.
	// Default: 1d.
	Retain secret.Duration `yaml:"retain,omitempty"`
}

// Validate reports what cannot work, by the names of the keys.
func (c Config) Validate() error { return nil }
