package proxy

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// notifications decides which webhooks a caller may register, and whose a delivered notification is.
type notifications struct {
	*webhooks
	*frontend
	*decoder
	*owners

	Authn     *authn.Chain
	Ledger    *ledger.Ledger
	Policy    *policy.Set
	PublicURL *url.URL
	Relay     *Relay
	Telemetry *telemetry.Telemetry
	agents    map[string]*agents.Agent
}
