package proxy

import (
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// forwarder sends calls to agents, as they came or translated, and reads the answers.
type forwarder struct {
	*webhooks
	*frontend
	*decoder
	*owners
	*inspector
	*notifications

	Relay     *Relay
	Server    *server.Config
	Telemetry *telemetry.Telemetry
	redirects sync.Map
}
