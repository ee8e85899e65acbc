package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// condition is how the gateway itself is doing, for metrics and the console.
type condition struct {
	current      *snapshot.Current
	audit        *audit.Log
	state        *stateStore
	server       *server.Server
	certificates *certificates.Certificates
	load         *loadReport
	streams      *openStreams
}

// read asks each part. It takes no lock of its own: the numbers are a few microseconds
// apart, which a scrape does not notice. Without a snapshot there are no limits.
func (c *condition) read() metrics.Condition {
	now := metrics.Condition{Failing: c.audit.Err() != nil, Certificate: c.server.Expiry(), Domains: c.certificates.Domains()}
	now.Unsynced, now.Lag = c.audit.Lag()
	// A state over a network, or in a file, knows whether its latest operation failed. It
	// is not pinged here: a scrape must not wait for it.
	if d, ok := c.state.store.(state.Distant); ok {
		now.Stateless = d.Away("") != nil
	}
	s := c.current.Acquire()
	if s == nil {
		return now
	}
	defer s.Release()
	limits := s.Config.Server.Limits
	now.Limits = []metrics.Use{
		{Limit: "requests", Used: c.load.ladder.Calls(), Max: limits.Requests},
		{Limit: "streams", Used: c.streams.list.Open(), Max: limits.Streams},
		{Limit: "connections", Used: c.server.Connections(), Max: c.server.MaxConnections()},
	}
	// Systems that do not tell how many descriptors are open have no such limit here.
	if r := c.load.ladder.Reading(); r != nil && r.Open > 0 && r.Permitted > 0 {
		now.Limits = append(now.Limits, metrics.Use{Limit: "descriptors", Used: r.Open, Max: r.Permitted})
	}
	return now
}
