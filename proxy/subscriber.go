package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// StreamLimits are what bounds the streams of agents.
func StreamLimits(c server.Config) stream.Limits {
	return stream.Limits{Event: int(c.Limits.Event), Idle: c.Timeouts.Stream.Std()}
}
