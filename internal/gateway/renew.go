package gateway

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// renew has the state go on knowing what open streams and waiting calls use, for as long as
// the gateway serves.
func (g *Gateway) renew() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(openstreams.RenewEvery(g.streams.Retention))
	defer tick.Stop()
	for {
		select {
		case <-g.closed:
			return
		case <-tick.C:
			g.renewOnce(ctx)
		}
	}
}

func (g *Gateway) renewOnce(ctx context.Context) {
	s := g.current.Acquire()
	if s == nil {
		return
	}
	defer s.Release()
	if err := g.streams.Renew(ctx, s.Proxy); err != nil {
		g.telemetry.Log.Warn("the state was not told what open streams use; it is told again later", "error", err)
	}
}
