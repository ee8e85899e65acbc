package proxy

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// agentError marks an error as the agent's: the gateway has refused nothing.
func agentError(e *wire.Error) error {
	e.Kind = exchange.Said(e.Kind)
	if e.Err == nil {
		return e.Because(exchange.ErrAgentSaid)
	}
	return e.Because(fmt.Errorf("%w: %w", exchange.ErrAgentSaid, e.Err))
}
