package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// reloadResult is what the last reload came to.
type reloadResult struct {
	at  time.Time
	err error
}

// Reload swaps in a new configuration. All that can fail happens before the
// swap: on an error the gateway goes on exactly as it was.
func (g *Gateway) Reload(ctx context.Context, cfg *config.Config) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	before := g.roster.loaded()
	err := g.replace(ctx, g.enlist(cfg), nil)
	if err != nil {
		g.enlist(before)
	}
	g.ReportReload(cfg.Common, err)
	return err
}

// replace builds a snapshot and serves it. ready, if there is one, is called when nothing
// else can fail, and keeps everything as it is by an error.
func (g *Gateway) replace(ctx context.Context, cfg *config.Config, ready func() error) error {
	old := g.current.Load()
	if old == nil {
		return snapshot.ErrClosed
	}
	if err := fixed(old.Config, cfg); err != nil {
		return err
	}
	// What building counts, such as the first fetch of a new agent's card, belongs
	// to agents old and new.
	g.telemetry.Metrics.SetLabels(labels(old.Config, cfg))
	defer func() {
		now := g.config(old)
		g.telemetry.Metrics.SetLabels(labels(now))
		g.names.Keep(now.AgentIDs())
	}()
	s, err := g.build(ctx, cfg, old)
	if err != nil {
		return err
	}
	if err := g.retune(old.Config, cfg); err != nil {
		s.Release()
		return err
	}
	if ready != nil {
		if err := ready(); err != nil {
			s.Release()
			return errors.Join(err, g.retune(cfg, old.Config))
		}
	}
	if !g.install(old, s) {
		s.Release()
		return snapshot.ErrClosed
	}
	g.egress.Take(s.Egress)
	g.roster.served()
	old.Retire(s)
	old.Release()
	g.streams.Review(s.Proxy) // now, rather than with the next look
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
	if err := g.certificates.configure(cfg); err != nil {
		return errors.Join(err, g.server.Reload(old.Server), g.telemetry.Reload(old.Telemetry.Config))
	}
	g.anomalies.Configure(cfg.Telemetry.Anomalies)
	g.hub.Configure(cfg.Streams, proxy.StreamLimits(cfg.Server))
	return nil
}

// fixed refuses changes that only a restart can make. Ignoring them would leave
// a gateway that does not do what its file says.
func fixed(old, cfg *config.Config) error {
	var errs []error
	for _, key := range old.Fixed(cfg) {
		errs = append(errs, fmt.Errorf("%s: changing it needs a restart", key))
	}
	return errors.Join(errs...)
}

// install makes s the snapshot that requests begin with, unless another one than
// old is in force: Shutdown came first.
func (g *Gateway) install(old, s *snapshot.Snapshot) bool {
	if !g.current.CompareAndSwap(old, s) {
		return false
	}
	g.lint(s)
	return true
}

// ReportReload records the outcome of a reload, also of one that failed before
// there was a configuration to hand to Reload.
func (g *Gateway) ReportReload(sum [32]byte, err error) {
	if err == nil { // first of all: whoever sees the outcome elsewhere finds it on record
		if failed := g.audit.Event("config.reloaded", nil); failed != nil {
			g.telemetry.Log.Error("write audit event", "error", failed)
		}
	}
	g.reload.Store(&reloadResult{at: time.Now(), err: err})
	g.telemetry.Metrics.Reloaded(sum, err)
	if err != nil {
		g.telemetry.Log.Error("configuration not reloaded, the old one stays", "error", err)
		return
	}
	g.telemetry.Log.Info("configuration reloaded")
}

// config is the configuration in force, or the last one's once the gateway has
// closed.
func (g *Gateway) config(last *snapshot.Snapshot) *config.Config {
	if s := g.current.Load(); s != nil {
		return s.Config
	}
	return last.Config
}

// labels are the values that metrics may be labelled with.
func labels(cfgs ...*config.Config) telemetry.Labels {
	l := telemetry.Labels{
		Rules:     policy.Undecided(),
		Providers: []string{"api-keys", "mtls", "unknown"}, URIs: slices.Collect(maps.Keys(provided.Providers())),
	}
	for _, cfg := range cfgs {
		l.Agents = append(l.Agents, cfg.AgentIDs()...)
		for _, r := range cfg.Policy.Rules {
			l.Rules = append(l.Rules, r.Name)
		}
		for i := range cfg.Policy.Limits.Each {
			l.Limits = append(l.Limits, cfg.Policy.Limits.Each[i].Name)
		}
		for i := range cfg.Policy.Authorizers {
			l.Authorizers = append(l.Authorizers, cfg.Policy.Authorizers[i].Name)
		}
		for _, e := range cfg.Extensions {
			l.URIs = append(l.URIs, e.URI)
			for _, m := range e.Methods {
				l.Methods = append(l.Methods, m.Name)
			}
		}
		if wanted := section(cfg); wanted != nil {
			l.Domains = append(l.Domains, wanted.Domains...)
		}
		for _, i := range cfg.Authn.OIDC {
			l.Providers = append(l.Providers, i.Issuer)
		}
	}
	return l
}
