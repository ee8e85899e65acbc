package gateway

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/observed"
	"github.com/a2a-gateway/a2a-gateway/internal/state/redis"
	"github.com/a2a-gateway/a2a-gateway/internal/state/sqlite"
)

// openStore opens the state that the configuration names. Limits are counted in local
// while it cannot be reached.
func (g *Gateway) openStore(ctx context.Context, c state.Config) error {
	memory := state.NewMemory(c)
	g.local = memory
	var opened state.Store
	var err error
	switch c.Driver {
	case "", "memory":
		g.store = memory
		return nil
	case "sqlite":
		opened, err = sqlite.Open(ctx, c, &sqlite.Watcher{Lost: g.fileLost, Refuses: g.fileRefuses})
	case "redis":
		opened, err = redis.Open(ctx, c, g.telemetry.Log, g.telemetry.Metrics.StateEvicted)
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	g.store = &observed.Store{Store: opened, Counted: g.telemetry.Metrics.Stored}
	if c.Shared() {
		g.revoked = revocation.Watch(ctx, g.store, g.telemetry.Log)
	}
	return nil
}

// fileLost says that the file of the state was deleted, moved or replaced under the gateway, or
// with nil that it is back.
func (g *Gateway) fileLost(why error) {
	if why == nil {
		g.telemetry.Log.Info("the file of the state is back")
		g.lostState.Store(nil)
	} else {
		g.telemetry.Log.Error("the file of the state is lost: calls that would write to it are refused", "error", why)
		g.lostState.Store(&why)
	}
	g.telemetry.Metrics.StateFileLost(why != nil)
}

// fileRefuses says that the file of the state takes no writes, or with nil that it does again.
func (g *Gateway) fileRefuses(why error) {
	if why == nil {
		g.telemetry.Log.Info("sqlite takes writes again")
		return
	}
	g.telemetry.Log.Warn("sqlite refuses writes: what has to be recorded is refused until it takes them", "error", why)
}
