package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// condition is how the gateway itself is doing, for metrics.
func (g *Gateway) condition() telemetry.Condition {
	c := telemetry.Condition{Failing: g.audit.Err() != nil, Certificate: g.server.Expiry(), Domains: g.certificates.domains()}
	c.Unsynced, c.Lag = g.audit.Lag()
	if d, ok := g.store.(state.Distant); ok {
		c.Stateless = d.Away("") != nil
	}
	s := g.current.Acquire()
	if s == nil {
		return c
	}
	defer s.Release()
	limits := s.Config.Server.Limits
	c.Limits = []telemetry.Use{
		{Limit: "requests", Used: g.work.Calls(), Max: limits.Requests},
		{Limit: "streams", Used: g.streams.Open(), Max: limits.Streams},
		{Limit: "connections", Used: g.server.Connections(), Max: g.server.Room()},
	}
	if r := g.work.Reading(); r != nil && r.Open > 0 && r.Permitted > 0 {
		c.Limits = append(c.Limits, telemetry.Use{Limit: "descriptors", Used: r.Open, Max: r.Permitted})
	}
	return c
}
