package gateway

import (
	"crypto/rand"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// eventsPurpose is what the events of tasks are sealed for in the state.
const eventsPurpose = "events"

// newHub makes the hub of agents' streams. In a state that survives the process, or that
// others share, their events are kept as well.
func (g *Gateway) newHub(cfg *config.Config) *stream.Hub {
	o := stream.HubOptions{
		Config: cfg.Streams, Limits: proxy.StreamLimits(cfg.Server), Log: g.telemetry.Log,
		Replica: cfg.Server.ID + " " + rand.Text(), // two processes with one id are two replicas all the same
	}
	if g.store != state.Store(g.local) && cfg.Streams.Persists() {
		o.Logs, o.Holds = state.SealedLogs(g.store, sealing{g.keys, eventsPurpose}), g.store
	}
	return stream.NewHub(o)
}
