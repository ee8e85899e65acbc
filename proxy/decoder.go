package proxy

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// decoder finds out whom a request is for and reads what it asks, in each binding and version.
type decoder struct {
	*admissions
	*authenticator
	*extensionRules
	*recorder
	*frontend

	Drain  func(end func()) (stop func() bool)
	Ledger *ledger.Ledger
	Policy *policy.Set
	Server *server.Config
	Steps  state.Steps
	System http.Handler
	agents map[string]*agents.Agent
	extra  *wire.Extra
	hidden *wire.Extra
	hosts  map[string]*agents.Agent
	prefix prefix
	self   map[string]struct{}
	sole   *agents.Agent
}
