package gateway

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/telemetry/audit"
	"github.com/a2a-gateway/a2a-gateway/telemetry/audit/sink"
)

// openAudit opens the audit log, and the sinks that read it.
func (g *Gateway) openAudit(cfg *config.Config) (err error) {
	c := cfg.Telemetry.Audit
	c.Held = sink.Holds(c.Dir, c.Sinks)
	if g.audit, err = audit.Open(c.Config, cfg.Server.ID, g.telemetry); err != nil {
		return fmt.Errorf("telemetry.audit: %w", err)
	}
	g.sinks, err = sink.Open(c.Sinks, sink.Options{
		Source: c.Source(), Log: g.audit, Gateway: cfg.Server.ID, Telemetry: g.telemetry,
	})
	return err
}

// Where the state remembers how far the audit log has come.
const (
	markSpace = "audit-marks"
	// markedFor is how long one that replicas share remembers a log that nobody writes: a pod
	// that does not come back leaves its mark.
	markedFor = 90 * 24 * time.Hour
	// markTime is how long it may take.
	markTime = 5 * time.Second
)

// markAudit has the state remember how far the audit log has come, and compares the two: who
// puts the directory back to an older copy puts back its head as well. In memory nothing is
// remembered.
func (g *Gateway) markAudit(ctx context.Context, cfg *config.Config) {
	if g.store == g.local {
		return
	}
	key, ttl := cfg.Server.ID+"\n"+cfg.Telemetry.Audit.Dir, time.Duration(0)
	if cfg.State.Driver == redisDriver { // each replica has a log of its own
		host, _ := os.Hostname()
		key, ttl = host+"\n"+key, markedFor
	}
	var known audit.Mark
	ctx, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	data, there, err := g.store.Get(ctx, markSpace, key)
	if err == nil && there {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		g.telemetry.Log.Warn("the audit log is not compared with what the state remembers of it", "error", err)
	}
	g.audit.Remember(known, func(m audit.Mark) {
		data, err := json.Marshal(m)
		if err != nil {
			return // cannot happen
		}
		ctx, cancel := context.WithTimeout(context.Background(), markTime)
		defer cancel()
		if err := g.store.Put(ctx, markSpace, key, data, ttl); err != nil {
			g.telemetry.Log.Debug("the state does not remember how far the audit log has come", "error", err)
		}
	})
}
