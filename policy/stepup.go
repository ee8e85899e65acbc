package policy

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Authentication is `authentication:` of a rule. At least one key is given.
type Authentication struct {
	// ACR are authentication context classes, any of them, the preferred one first.
	ACR []string `yaml:"acr"`
	// AMR are authentication methods (RFC 8176), all of them: mfa, hwk, otp …
	AMR []string `yaml:"amr"`
	// MaxAge is how long ago the user may have authenticated (auth_time). A credential
	// that does not say is too old.
	MaxAge secret.Duration `yaml:"maxAge"`
}

// Consent is `consent:` of a rule. Exactly one of Scope and Claim is given.
type Consent struct {
	// Scope that stands for the user's consent.
	Scope string `yaml:"scope"`
	// Claim, by name or path, that has to have Value, or hold it in a list; without
	// Value it has to be true.
	Claim string `yaml:"claim"`
	Value string `yaml:"value"`
}

// StepUp is the authentication that a denied call lacks (RFC 9470).
type StepUp struct {
	ACR    []string      // any of them would do
	AMR    []string      // all of them are needed; for the record, RFC 9470 cannot say it
	MaxAge time.Duration // 0: none is set
}
