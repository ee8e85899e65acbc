package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// authorizer asks rules, limits and authorizers whether a call may be made, and writes the intent down.
type authorizer struct {
	*authenticator
	*cursors
	*extensionRules
	*throttling
	*frontend
	*decoder
	*owners
	*inspector
	*notifications

	Audit    *audit.Log
	FailOpen bool
	Limits   *limits.Limiter
	Panel    *pdp.Panel
	Policy   *policy.Set
	Streams  *Streams
}
