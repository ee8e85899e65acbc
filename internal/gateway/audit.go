package gateway

import (
	"fmt"

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
