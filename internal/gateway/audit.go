package gateway

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// openAudit opens the audit log, and the sinks that read it.
func (g *Gateway) openAudit(cfg *config.Config) (err error) {
	c := cfg.Telemetry.Audit
	c.Held = sink.Holds(c.Dir, c.Sinks)
	if g.audit, err = audit.Open(c.Config, cfg.Server.ID, g.telemetry); err != nil {
		return fmt.Errorf("telemetry.audit: %w", err)
	}
	g.sinks, err = sink.Open(c.Sinks, sink.Options{
		Source: c.Source(), Log: g.audit, Gateway: cfg.Server.ID, Egress: g.egress, Telemetry: g.telemetry,
	})
	return err
}

// Where the state remembers how far the audit log has come.
const (
	markSpace = "audit-marks"
	// markedFor is how long one that replicas share remembers a log that nobody writes: a pod
	// that does not come back leaves its mark.
	markedFor = 90 * 24 * time.Hour
)

// markAudit has the state remember how far the audit log has come, and compares the two: who
// puts the directory back to an older copy puts back its head as well. In memory nothing is
// remembered.
func (g *Gateway) markAudit(ctx context.Context, cfg *config.Config) {
	if g.store == g.local {
		return
	}
	m := &auditMark{g: g, key: cfg.Server.ID + "\n" + absolute(cfg.Telemetry.Audit.Dir)}
	if cfg.State.Shared() { // each replica has a log of its own
		host, _ := os.Hostname()
		// On one host, containers have the same directory: what differs is where they listen.
		m.key, m.ttl = host+"\n"+cfg.Server.Address+"\n"+m.key, markedFor
	}
	g.audit.Remember(ctx, m)
}

// absolute is where a directory is, also when the configuration was named from within another.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// auditMark is the place of a log's mark in the state.
type auditMark struct {
	g   *Gateway
	key string
	ttl time.Duration
}

// Known implements [audit.Memory].
func (m *auditMark) Known(ctx context.Context) (known audit.Mark, err error) {
	data, there, err := m.g.store.Get(ctx, markSpace, m.key)
	if err != nil || !there {
		return known, err
	}
	if err := json.Unmarshal(data, &known); err != nil { // to ask again would not help
		m.g.telemetry.Log.Error("what the state remembers of the audit log cannot be read: they are not compared", "error", err)
		return audit.Mark{}, nil
	}
	return known, nil
}

// Put implements [audit.Memory].
func (m *auditMark) Put(ctx context.Context, mark audit.Mark) error {
	data, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	return m.g.store.Put(ctx, markSpace, m.key, data, m.ttl)
}
