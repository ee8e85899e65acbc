package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
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

func (c *condition) read() telemetry.Condition {
	now := telemetry.Condition{Failing: c.audit.Err() != nil, Certificate: c.server.Expiry(), Domains: c.certificates.Domains()}
	now.Unsynced, now.Lag = c.audit.Lag()
	if d, ok := c.state.store.(state.Distant); ok {
		now.Stateless = d.Away("") != nil
	}
	s := c.current.Acquire()
	if s == nil {
		return now
	}
	defer s.Release()
	limits := s.Config.Server.Limits
	now.Limits = []telemetry.Use{
		{Limit: "requests", Used: c.load.ladder.Calls(), Max: limits.Requests},
		{Limit: "streams", Used: c.streams.list.Open(), Max: limits.Streams},
		{Limit: "connections", Used: c.server.Connections(), Max: c.server.MaxConnections()},
	}
	if r := c.load.ladder.Reading(); r != nil && r.Open > 0 && r.Permitted > 0 {
		now.Limits = append(now.Limits, telemetry.Use{Limit: "descriptors", Used: r.Open, Max: r.Permitted})
	}
	return now
}
