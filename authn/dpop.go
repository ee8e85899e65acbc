package authn

import "github.com/a2a-gateway/a2a-gateway/internal/secret"

// DPoP is authn.dpop: the bounds of proofs of possession (RFC 9449).
type DPoP struct {
	// Window is how old a proof may be, and how far its clock ahead. Default: 60s,
	// at most 5m.
	Window secret.Duration `yaml:"window,omitempty"`
	// Nonce makes clients repeat a value of the gateway's in every proof (RFC 9449 §9),
	// so that none can be made in advance. Default: false.
	Nonce bool `yaml:"nonce,omitempty"`
	// Proofs is how many proofs are remembered, so that none is taken twice, for as
	// long as Window lasts. When they are more, calls are answered 503. Default: 100000.
	Proofs int `yaml:"proofs,omitempty"`
}
