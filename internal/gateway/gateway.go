// Package gateway turns a configuration into a running gateway: it builds an
// immutable snapshot, swaps it in, listens and drains.
//
// It owns lifecycle and order: what is long-lived (listeners, telemetry, audit
// log, state) and what is rebuilt on reload (everything else). It does not own
// any of the parts. It may import every package but cmd and internal/demo.
//
// The order of New is that of dependence, and Shutdown goes the other way:
//
//	| step of New | what is there afterwards |
//	| --- | --- |
//	| openTelemetry | log, metrics, traces, the way out to collectors |
//	| resources.open | audit log, state, public and status sockets, keys |
//	| mountParts, parts.open | admin listener, certificates, anomalies, registered agents |
//	| builder.build | the first snapshot: agents, rules, authentication, proxy |
//	| reloads.install | requests have a snapshot to begin with |
//	| Start | requests are answered |
//
// A request comes from the public listener to handler.ServeHTTP. It takes the snapshot in
// force, holds it until the answer is written, and hands the request to the proxy of that
// snapshot. A reload builds a second snapshot beside it, puts it in its place with one
// atomic exchange, and lets go of the old one, which is closed when the last request that
// holds it has ended. So a request never sees two configurations, and no request waits for
// a reload.
//
// What is long-lived is handed changes instead of being replaced (reloads.retune): a socket
// that was closed and opened again would refuse connections in between.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/status"
)

// Options are what a configuration file does not say.
type Options struct {
	Version string       // of the binary
	Sockets *sockets.Set // that the process was started with; may be nil
}

// Gateway is a running gateway. Its methods are safe for concurrent use.
type Gateway struct {
	*resources
	*parts // nil until resources are open

	// How far it has come; shared by all who wait for its start or end.
	life *lifetime
	// The snapshot in force; nil before New is done and after the end.
	current snapshot.Current
	// What listeners go by, before there is a snapshot as well.
	configuration *configuration
}

// New builds everything and opens the listening sockets, so that a port in use
// or an unreadable certificate is an error here and not a log line later.
// Nothing is served before Start.
func New(ctx context.Context, cfg *config.Config, o Options) (_ *Gateway, err error) {
	g := &Gateway{resources: &resources{sockets: o.Sockets}, life: newLifetime()}
	if g.sockets == nil {
		g.sockets = new(sockets.Set)
	}
	// First, since everything after it reports errors to the log and counts.
	if err := g.openTelemetry(ctx, cfg, o.Version); err != nil {
		return nil, err
	}
	// From here on an error closes what was opened so far. Without that, a second attempt
	// in the same process, as in tests, would find the sockets in use.
	defer func() {
		if err != nil {
			g.closeParts(ctx)
		}
	}()
	if err := g.resources.open(ctx, cfg, &handler{g.life, &g.current}); err != nil {
		return nil, err
	}
	g.configuration = &configuration{&g.current, cfg, o.Version}
	g.parts = mountParts(ctx, g.configuration, g.resources, g.life)
	if err := g.parts.open(ctx, cfg, o.Version, g.resources); err != nil {
		return nil, err
	}
	s, err := g.builder.build(ctx, g.fleet.Enlist(cfg), nil)
	if err != nil {
		return nil, err
	}
	// Nothing can be in force yet, so that this cannot fail.
	g.reloads.install(nil, s)
	g.telemetry.Metrics.Gateway.Reloaded(cfg.Common, nil)
	return g, nil
}

// Start serves. It returns at once.
func (g *Gateway) Start() {
	g.status.Serve(status.Options{
		Readiness: g.readiness, Metrics: g.telemetry.Handler(), Config: g.configuration.server, Log: g.telemetry.Log,
	})
	g.console.console.Start()
	close(g.life.started)
	g.run(g.life, &g.current, g.state.revoked != nil)
	g.telemetry.Log.Info("serving", append([]any{"url", g.server.URL(), "public_url", g.server.PublicURL(),
		"status_url", g.StatusURL(), "admin_url", g.AdminURL()}, g.console.attrs()...)...)
}

// Log is where the gateway says what happens.
func (g *Gateway) Log() *slog.Logger { return g.telemetry.Log }

// URL is the public listener's address as a URL with the port really bound.
func (g *Gateway) URL() string { return g.server.URL() }

// StatusURL is the status listener's.
func (g *Gateway) StatusURL() string { return g.status.URL() }

// AdminURL is the admin listener's; "" where there is none.
func (g *Gateway) AdminURL() string { return g.console.console.URL() }

// Reload swaps in a new configuration. All that can fail happens before the
// swap: on an error the gateway goes on exactly as it was.
func (g *Gateway) Reload(ctx context.Context, cfg *config.Config) error {
	return g.reloads.reload(ctx, cfg)
}

// ReportReload records the outcome of a reload that failed before there was a configuration
// to hand to Reload.
func (g *Gateway) ReportReload(sum [32]byte, err error) { g.reloads.report(sum, err) }

// Follow reloads when the file's content changes, or that of the files with rules that it
// names, or hup receives, until ctx ends.
func (g *Gateway) Follow(ctx context.Context, path string, hup <-chan os.Signal) {
	g.reloads.follow(ctx, path, hup)
}

// Shutdown drains: readiness turns false, for server.timeouts.lameDuck connections are
// still taken and answers close theirs, then no connection is accepted any more, calls
// and streams may finish until shortly before ctx ends, streams are then told to come
// back, and what is still open at the end of ctx is cut off. A ctx without a deadline
// gets server.timeouts.drain.
func (g *Gateway) Shutdown(ctx context.Context) error { return g.stop(ctx, false) }

// Handover is Shutdown for a program that this process then turns into, and returns what
// is to stand in its environment. Sockets stay open, so that connections wait for it, and
// streams are told to come back as soon as no connection is accepted here: what they come
// back to is there, and waits for the last of the calls that are under way. With an error
// and no environment nothing has changed.
func (g *Gateway) Handover(ctx context.Context) (environ string, err error) {
	if environ, err = g.sockets.Hand(); err != nil {
		return "", err
	}
	return environ, g.stop(ctx, true)
}

// ReportUpgrade records that the gateway is about to become another version, or why not.
func (g *Gateway) ReportUpgrade(err error) {
	kind := "upgrade.begun"
	if err != nil {
		kind = "upgrade.refused"
		g.telemetry.Log.Error("not upgraded, everything stays as it is", "error", err)
	} else {
		g.telemetry.Log.Info("upgrading")
	}
	if failed := g.audit.log.Event(kind, nil); failed != nil {
		g.telemetry.Log.Error("write audit event", "error", failed)
	}
}

// stop drains and then closes everything, also where draining failed. The context of
// closing has no deadline: what is closed is on this machine, and writes its last records.
func (g *Gateway) stop(ctx context.Context, followed bool) error {
	defer g.closeParts(context.WithoutCancel(ctx))
	return g.drain.run(ctx, followed)
}

// closeParts ends what New began, last first. It is also New's way back.
func (g *Gateway) closeParts(ctx context.Context) {
	g.life.closing.Do(func() {
		close(g.life.closed)
		g.close(ctx)
	})
}

// close ends what was opened, in this order: no new request begins (the snapshot is gone),
// the probes and operators' listeners close, calls that are still under way are cut off,
// then what those calls used is closed, and telemetry last, so that everybody can still
// log. Parts that were never opened are nil, since New may have failed anywhere.
func (g *Gateway) close(ctx context.Context) {
	if s := g.current.Swap(nil); s != nil {
		s.Release()
	}
	g.closeStatus()
	if g.parts != nil {
		g.closeListeners()
	}
	g.cutOff(ctx)
	if g.parts != nil {
		g.parts.close(ctx)
	}
	if err := g.closeStores(ctx); err != nil {
		g.telemetry.Log.Error("close", "error", err)
	}
	if g.life.draining.Load() { // not on New's way back
		g.telemetry.Log.Info("stopped")
	}
	// A collector that does not answer must not hold up the end of the process.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = g.telemetry.Close(ctx) // what could not be exported has nowhere else to go
}

// closeStores ends what writes to files, databases and other services.
func (g *Gateway) closeStores(ctx context.Context) error {
	errs := []error{g.closeAudit(ctx)}
	if g.parts != nil {
		errs = append(errs, g.console.records.Close())
	}
	if g.keys != nil {
		g.keys.Close()
	}
	if g.parts != nil {
		g.console.peers.Close()
	}
	return errors.Join(append(errs, g.closeState())...)
}
