// Package gateway turns a configuration into a running gateway: it builds an
// immutable snapshot, swaps it in, listens and drains.
//
// It owns lifecycle and order: what is long-lived (listeners, telemetry, audit
// log, state) and what is rebuilt on reload (everything else). It does not own
// any of the parts. It may import every package but cmd and internal/demo.
package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/audit"
)

// Options are what a configuration file does not say.
type Options struct {
	Version string // of the binary, for build_info
}

// Gateway is a running gateway. Its methods are safe for concurrent use.
type Gateway struct {
	telemetry *telemetry.Telemetry
	audit     *audit.Log
	store     *state.Memory
	salt      []byte

	server *server.Server
	status *statusServer

	started   chan struct{} // closed by Start
	drain     chan struct{} // closed when open streams have to end
	draining  atomic.Bool
	farewell  sync.Once
	closing   sync.Once
	reloading sync.Mutex   // one reload at a time
	streams   atomic.Int64 // event streams that are open, whichever snapshot they began with
	current   atomic.Pointer[snapshot]
	reload    atomic.Pointer[reloadResult]
}

// reloadResult is what the last reload came to.
type reloadResult struct {
	at  time.Time
	err error
}

// New builds everything and opens the listening sockets, so that a port in use
// or an unreadable certificate is an error here and not a log line later.
// Nothing is served before Start.
func New(ctx context.Context, cfg *config.Config, o Options) (_ *Gateway, err error) {
	g := &Gateway{started: make(chan struct{}), drain: make(chan struct{}), salt: make([]byte, 32)}
	if _, err := rand.Read(g.salt); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	g.telemetry, err = telemetry.Open(ctx, cfg.Telemetry.Config, o.Version)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	defer func() {
		if err != nil {
			g.closeParts(ctx)
		}
	}()
	g.store = state.NewMemory(cfg.State)
	if g.audit, err = audit.Open(cfg.Telemetry.Audit, cfg.Server.ID, g.telemetry); err != nil {
		return nil, fmt.Errorf("telemetry.audit: %w", err)
	}
	if g.server, err = server.New(cfg.Server, g, g.telemetry.Log); err != nil {
		return nil, err // names its keys, as in server.tls
	}
	// The socket first: with port 0, the URLs in cards depend on it. Requests wait
	// for Start.
	if err := g.server.Start(); err != nil {
		return nil, err
	}
	if g.status, err = newStatusServer(g, cfg.Server.StatusAddress); err != nil {
		return nil, fmt.Errorf("server.statusAddress: %w", err)
	}
	g.telemetry.Metrics.SetLabels(labels(cfg))
	s, err := g.build(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	g.install(nil, s)
	g.telemetry.Metrics.Reloaded(cfg.Sum, nil)
	return g, nil
}

// Start serves. It returns at once.
func (g *Gateway) Start() {
	g.status.start()
	close(g.started)
	g.telemetry.Log.Info("serving", "url", g.server.URL(), "public_url", g.server.PublicURL(),
		"status_url", g.StatusURL())
}

// URL is the public listener's address as a URL with the port really bound.
func (g *Gateway) URL() string { return g.server.URL() }

// StatusURL is the status listener's.
func (g *Gateway) StatusURL() string { return g.status.url() }

// Reload swaps in a new configuration. All that can fail happens before the
// swap: on an error the gateway goes on exactly as it was.
func (g *Gateway) Reload(ctx context.Context, cfg *config.Config) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	err := g.replace(ctx, cfg)
	g.ReportReload(cfg.Sum, err)
	return err
}

// errClosed answers a reload that comes when the gateway is going away.
var errClosed = errors.New("the gateway is shutting down")

func (g *Gateway) replace(ctx context.Context, cfg *config.Config) error {
	old := g.current.Load()
	if old == nil {
		return errClosed
	}
	if err := fixed(old.config, cfg); err != nil {
		return err
	}
	// What building counts, such as the first fetch of a new agent's card, belongs
	// to agents old and new.
	g.telemetry.Metrics.SetLabels(labels(old.config, cfg))
	defer func() { g.telemetry.Metrics.SetLabels(labels(g.config(old))) }()
	s, err := g.build(ctx, cfg, old)
	if err != nil {
		return err
	}
	if err := g.retune(old.config, cfg); err != nil {
		s.release()
		return err
	}
	if !g.install(old, s) {
		s.release()
		return errClosed
	}
	old.release()
	return nil
}

// retune hands the long-lived parts what they can take over while running. Each
// of them takes over everything or nothing; the first goes back when the second
// refuses.
func (g *Gateway) retune(old, cfg *config.Config) error {
	if err := g.telemetry.Reload(cfg.Telemetry.Config); err != nil {
		return err
	}
	if err := g.server.Reload(cfg.Server); err != nil {
		return errors.Join(err, g.telemetry.Reload(old.Telemetry.Config))
	}
	return nil
}

// fixed refuses changes that only a restart can make. Ignoring them would leave
// a gateway that does not do what its file says.
func fixed(old, cfg *config.Config) error {
	var errs []error
	for _, key := range []struct {
		name     string
		old, new any
	}{
		{"server.id", old.Server.ID, cfg.Server.ID},
		{"telemetry.audit", old.Telemetry.Audit, cfg.Telemetry.Audit},
		{"state", old.State, cfg.State},
	} {
		if key.old != key.new {
			errs = append(errs, fmt.Errorf("%s: changing it needs a restart", key.name))
		}
	}
	return errors.Join(errs...)
}

// install makes s the snapshot that requests begin with, unless another one than
// old is in force: Shutdown came first.
func (g *Gateway) install(old, s *snapshot) bool {
	if !g.current.CompareAndSwap(old, s) {
		return false
	}
	g.lint(s)
	return true
}

// ReportReload records the outcome of a reload, also of one that failed before
// there was a configuration to hand to Reload.
func (g *Gateway) ReportReload(sum [32]byte, err error) {
	g.reload.Store(&reloadResult{at: time.Now(), err: err})
	g.telemetry.Metrics.Reloaded(sum, err)
	if err != nil {
		g.telemetry.Log.Error("configuration not reloaded, the old one stays", "error", err)
		return
	}
	g.telemetry.Log.Info("configuration reloaded")
	if err := g.audit.Event("config.reloaded", nil); err != nil {
		g.telemetry.Log.Error("write audit event", "error", err)
	}
}

// ServeHTTP serves one request from the snapshot it begins with.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-g.started:
	case <-r.Context().Done():
		return
	}
	s := g.acquire()
	if s == nil { // a request that was on its way when Shutdown gave up waiting
		w.Header().Set("Connection", "close")
		wire.WriteError(w, nil, wire.Errorf(wire.Unavailable, "the gateway is shutting down"))
		return
	}
	defer s.release()
	s.proxy.ServeHTTP(w, r)
}

// Shutdown drains: readiness turns false, no connection is accepted any more,
// calls and streams may finish until shortly before ctx ends, streams are then
// told to come back, and what is still open at the end of ctx is cut off. A ctx
// without a deadline gets server.timeouts.drain.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.draining.Store(true)
	defer g.closeParts(context.WithoutCancel(ctx))
	s := g.current.Load()
	if s == nil {
		return nil // it has been shut down before
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(s.config.Server.Timeouts.Drain.Std())
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	window := time.Until(deadline)
	last := time.AfterFunc(window-farewellFor(window), g.endStreams)
	defer last.Stop()
	return g.server.Shutdown(ctx)
}

// farewellFor is how long before the end of a drain window streams are told to
// end: long enough for their last events, and for net/http to notice, which looks
// at its connections twice a second.
func farewellFor(window time.Duration) time.Duration {
	return max(window/10, min(window/2, time.Second))
}

// endStreams tells every open stream to end with a last event.
func (g *Gateway) endStreams() {
	g.farewell.Do(func() { close(g.drain) })
}

// closeParts ends what New began, last first. It is also New's way back.
func (g *Gateway) closeParts(ctx context.Context) {
	g.closing.Do(func() { g.close(ctx) })
}

func (g *Gateway) close(ctx context.Context) {
	if s := g.current.Swap(nil); s != nil {
		s.release()
	}
	if g.status != nil {
		g.status.close()
	}
	if g.server != nil {
		cut, cancel := context.WithCancel(ctx)
		cancel() // Shutdown has waited as long as it may; New's way back has nobody to wait for
		_ = g.server.Shutdown(cut)
	}
	var errs []error
	if g.audit != nil {
		errs = append(errs, g.audit.Close())
	}
	if g.store != nil {
		errs = append(errs, g.store.Close())
	}
	if err := errors.Join(errs...); err != nil {
		g.telemetry.Log.Error("close", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = g.telemetry.Close(ctx) // what could not be exported has nowhere else to go
}

// config is the configuration in force, or the last one's once the gateway has
// closed.
func (g *Gateway) config(last *snapshot) *config.Config {
	if s := g.current.Load(); s != nil {
		return s.config
	}
	return last.config
}

// labels are the values that metrics may be labelled with.
func labels(cfgs ...*config.Config) telemetry.Labels {
	l := telemetry.Labels{Providers: []string{"api-keys", "unknown"}}
	for _, cfg := range cfgs {
		l.Agents = append(l.Agents, cfg.AgentIDs()...)
		for _, r := range cfg.Policy.Rules {
			l.Rules = append(l.Rules, r.Name)
		}
		for _, e := range cfg.Extensions {
			l.URIs = append(l.URIs, e.URI)
		}
		for _, i := range cfg.Authn.OIDC {
			l.Providers = append(l.Providers, i.Issuer)
		}
	}
	return l
}
