package proxy

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// recorder keeps the record of each exchange from its first byte to its last, and makes answers of the
// errors that stages return: it begins and ends every exchange.
type recorder struct {
	*admissions
	*throttling

	Anomalies *anomaly.Watch
	Audit     *audit.Log
	Authn     *authn.Chain
	Book      *ext.Book
	Policy    *policy.Set
	PublicURL *url.URL
	Server    *server.Config
	Streams   *Streams
	Telemetry *telemetry.Telemetry
	agents    map[string]*agents.Agent
	extra     *wire.Extra
	hosts     map[string]*agents.Agent
	self      map[string]struct{}
}
