package gateway

import (
	"context"
	"fmt"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
	"github.com/a2a-gateway/a2a-gateway/internal/status"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// resources are what a gateway opens outside of itself and keeps until it ends: files,
// sockets and connections. All that can fail for want of one fails here.
type resources struct {
	sockets   *sockets.Set
	egress    *tunnel.Proxy // of what outlives configurations: the way out of the one in force
	telemetry *telemetry.Telemetry
	audit     *auditTrail
	state     *stateStore
	server    *server.Server
	status    *status.Server
	keys      *keys.Ring
}

// openTelemetry opens what all others say things by. Collectors are reached by the same way
// out (egress) as agents, so that comes even before.
func (r *resources) openTelemetry(ctx context.Context, cfg *config.Config, version string) (err error) {
	if r.egress, err = tunnel.New(cfg.Egress); err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	visible := cfg.Telemetry.Config
	visible.Egress = r.egress
	if r.telemetry, err = telemetry.Open(ctx, visible, version); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	return nil
}

// open opens the others. calls answers those of the public listener. The audit log is
// first: opening the state or the keys may have to be recorded. Keys are last, as the log
// signs and encrypts with them.
func (r *resources) open(ctx context.Context, cfg *config.Config, calls http.Handler) (err error) {
	if r.audit, err = openAudit(cfg, r.egress, r.telemetry); err != nil {
		return err
	}
	if r.state, err = openState(ctx, cfg.State, r.telemetry); err != nil {
		return err
	}
	r.audit.mark(ctx, cfg, r.state)
	if r.server, err = server.New(cfg.Server, calls, r.telemetry.Log); err != nil {
		return err // names its keys, as in server.tls
	}
	r.server.Sockets, r.server.Refused = r.sockets, r.telemetry.Metrics.Load.Shed
	r.server.Malformed, r.server.Flooded = r.telemetry.Metrics.Load.Malformed, r.telemetry.Metrics.Load.Flooded
	// The socket first: with port 0, the URLs in cards depend on it. Requests wait
	// for Start.
	if err := r.server.Start(); err != nil {
		return err
	}
	if r.status, err = status.Listen(r.sockets, cfg.Server.StatusAddress); err != nil {
		return fmt.Errorf("server.statusAddress: %w", err)
	}
	if r.keys, err = keys.Open(cfg.Keys, r.telemetry.Log); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	return r.audit.signWith(r.keys)
}

// closeStatus ends the listener of probes.
func (r *resources) closeStatus() {
	if r.status != nil {
		r.status.Close()
	}
}

// cutOff ends calls that are still under way. Shutdown has waited as long as it may; New's
// way back has nobody to wait for. A Shutdown whose context has ended closes connections at
// once.
func (r *resources) cutOff(ctx context.Context) {
	if r.server == nil {
		return
	}
	cut, cancel := context.WithCancel(ctx)
	cancel()
	_ = r.server.Shutdown(cut)
}

// closeAudit ends the log and its sinks. It is nil where New failed before the log was
// open.
func (r *resources) closeAudit(ctx context.Context) error {
	if r.audit == nil {
		return nil
	}
	return r.audit.close(ctx)
}

// closeState ends the state. As with the log, there may be none.
func (r *resources) closeState() error {
	if r.state == nil {
		return nil
	}
	return r.state.close()
}
