package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// auditTrail is the audit log, and the sinks that read it.
type auditTrail struct {
	log   *audit.Log
	sinks *sink.Sinks
}

// openAudit opens the log and its sinks. With an error there may be one without the others.
// Held tells the log which segments the sinks have not read yet, before it removes old
// ones. A result beside an error has to be closed by the caller.
func openAudit(cfg *config.Config, egress *tunnel.Proxy, t *telemetry.Telemetry) (*auditTrail, error) {
	c := cfg.Telemetry.Audit
	c.Held = sink.Holds(c.Dir, c.Sinks)
	log, err := audit.Open(c.Config, cfg.Server.ID, t)
	if err != nil {
		return nil, fmt.Errorf("telemetry.audit: %w", err)
	}
	sinks, err := sink.Open(c.Sinks, sink.Options{
		Source: c.Source(), Log: log, Gateway: cfg.Server.ID, Egress: egress, Telemetry: t,
	})
	return &auditTrail{log: log, sinks: sinks}, err
}

// signWith has the log's checkpoints signed, and what it keeps of calls encrypted. It is
// called once, when the keys are open, which is after the log.
func (a *auditTrail) signWith(ring *keys.Ring) error {
	a.log.SignWith(ring)
	return a.log.KeepWith(ring)
}

// close ends the log first: the sinks then send what was written last.
func (a *auditTrail) close(ctx context.Context) error {
	return errors.Join(a.log.Close(), a.sinks.Close(ctx))
}

// Where the state remembers how far the audit log has come.
const (
	markSpace = "audit-marks"
	// markedFor is how long one that replicas share remembers a log that nobody writes: a pod
	// that does not come back leaves its mark.
	markedFor = 90 * 24 * time.Hour
)

// mark has the state remember how far the log has come, and compares the two: who puts the
// directory back to an older copy puts back its head as well. In memory nothing is
// remembered. The chain of hashes alone cannot show a rollback: an old copy of the
// directory is a valid chain that merely ends earlier.
func (a *auditTrail) mark(ctx context.Context, cfg *config.Config, s *stateStore) {
	if !s.lasts() {
		return
	}
	// The key names the log by gateway and directory, so that two gateways with one state
	// do not compare their logs with each other.
	m := &auditMark{values: s.store, log: s.telemetry.Log, key: cfg.Server.ID + "\n" + absolute(cfg.Telemetry.Audit.Dir)}
	if cfg.State.Shared() { // each replica has a log of its own
		host, _ := os.Hostname()
		// On one host, containers have the same directory: what differs is where they listen.
		m.key, m.ttl = host+"\n"+cfg.Server.Address+"\n"+m.key, markedFor
	}
	a.log.Remember(ctx, m)
}

// absolute is where a directory is, also when the configuration was named from within
// another. A path that cannot be made absolute (the working directory is gone) is used as
// it is.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// auditMark is the place of a log's mark in the state.
type auditMark struct {
	values state.Values
	log    *slog.Logger
	key    string
	ttl    time.Duration
}

// Known implements [audit.Memory]. A zero Mark says that nothing is remembered. What cannot
// be decoded is reported in the log and counts as nothing, since the gateway could
// otherwise never start again.
func (m *auditMark) Known(ctx context.Context) (known audit.Mark, err error) {
	data, there, err := m.values.Get(ctx, markSpace, m.key)
	if err != nil || !there {
		return known, err
	}
	if err := json.Unmarshal(data, &known); err != nil { // to ask again would not help
		m.log.Error("what the state remembers of the audit log cannot be read: they are not compared", "error", err)
		return audit.Mark{}, nil
	}
	return known, nil
}

// Put implements [audit.Memory]. The mark is JSON, and is kept for ttl; 0 is for ever.
func (m *auditMark) Put(ctx context.Context, mark audit.Mark) error {
	data, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	return m.values.Put(ctx, markSpace, m.key, data, m.ttl)
}
