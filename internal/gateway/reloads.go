package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/cardtrust"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/configlint"
	"github.com/a2a-gateway/a2a-gateway/internal/configwatch"
	"github.com/a2a-gateway/a2a-gateway/internal/consent"
	"github.com/a2a-gateway/a2a-gateway/internal/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// reloadResult is what the last reload came to.
type reloadResult struct {
	at  time.Time
	err error
}

// reloads put configurations into force, one at a time: whoever does so holds the lock.
type reloads struct {
	sync.Mutex

	current      *snapshot.Current
	telemetry    *telemetry.Telemetry
	audit        *audit.Log
	egress       *tunnel.Proxy
	server       *server.Server
	certificates *certificates.Certificates
	anomalies    *anomalies
	consent      *consent.Desk
	hub          *stream.Hub
	streams      *openStreams
	cards        *cardtrust.Cards
	linter       *configlint.Linter
	fleet        *fleet.Registry
	builder      *builder

	last    atomic.Pointer[reloadResult]
	follows atomic.Bool     // a file is followed
	asks    chan chan error // of operators for a reload; each hears what it came to
}

// reload swaps in a new configuration. All that can fail happens before the swap: on an
// error the gateway goes on exactly as it was. The file does not have the agents that were
// registered through the admin API: Enlist adds them, and remembers the file's own. Where
// the reload fails, it remembers the former ones again.
func (r *reloads) reload(ctx context.Context, cfg *config.Config) error {
	r.Lock()
	defer r.Unlock()
	before := r.fleet.Loaded()
	err := r.Replace(ctx, r.fleet.Enlist(cfg), nil)
	if err != nil {
		r.fleet.Enlist(before)
	}
	r.report(cfg.Common, err)
	return err
}

// result is what the last reload came to; zero before there was one.
func (r *reloads) result() (at time.Time, failure error) {
	if last := r.last.Load(); last != nil {
		return last.at, last.err
	}
	return at, nil
}

// follow reloads whenever the file at path changes, until ctx ends. A signal on hup makes
// the audit log open its file anew as well, as logrotate expects.
func (r *reloads) follow(ctx context.Context, path string, hup <-chan os.Signal) {
	o := configwatch.Options{
		Hangup: hup, Asks: r.asks, Log: r.telemetry.Log,
		Load: func() error { return r.load(ctx, path) },
		Reopen: func() {
			// Its failure shows in the records that cannot be written, and in /readyz.
			if err := r.audit.Reopen(); err != nil {
				r.telemetry.Log.Error("reopen audit log", "error", err)
			}
		},
	}
	if s := r.current.Load(); s != nil {
		o.Loaded = &s.Config.Sum
	}
	r.follows.Store(true)
	defer r.follows.Store(false)
	configwatch.Follow(ctx, path, o)
}

// load reports its error itself. Follow calls it, and has nobody to return the error to but
// an operator who has asked.
func (r *reloads) load(ctx context.Context, path string) error {
	cfg, err := config.Load(path)
	if err != nil {
		r.report([32]byte{}, err)
		return err
	}
	return r.reload(ctx, cfg)
}

// Replace builds a snapshot and serves it. ready, if there is one, is called when nothing
// else can fail, and keeps everything as it is by an error. The caller holds the lock. What
// fails before install leaves no trace: series of metrics, names of agents and settings of
// long-lived parts go back to what is in force.
func (r *reloads) Replace(ctx context.Context, cfg *config.Config, ready func() error) error {
	old := r.current.Load()
	if old == nil {
		return snapshot.ErrClosed
	}
	if err := fixed(old.Config, cfg); err != nil {
		return err
	}
	// What building counts, such as the first fetch of a new agent's card, belongs
	// to agents old and new.
	r.telemetry.Metrics.SetLabels(labels(old.Config, cfg))
	defer func() {
		now := r.config(old)
		r.telemetry.Metrics.SetLabels(labels(now))
		r.cards.Names.Keep(now.AgentIDs())
	}()
	s, err := r.builder.build(ctx, cfg, old)
	if err != nil {
		return err
	}
	if err := r.retune(old.Config, cfg); err != nil {
		s.Release()
		return err
	}
	if ready != nil {
		if err := ready(); err != nil {
			s.Release()
			return errors.Join(err, r.retune(cfg, old.Config))
		}
	}
	if !r.install(old, s) {
		s.Release()
		return snapshot.ErrClosed
	}
	// What outlives configurations uses the new way out from now on.
	r.egress.Take(s.Egress)
	r.fleet.Served()
	// Agents that the new snapshot does not have stop fetching their cards.
	old.Retire(s)
	old.Release()
	r.streams.list.Review(s.Proxy) // now, rather than with the next look
	return nil
}

// retune hands the long-lived parts what they can take over while running. Each
// of them takes over everything or nothing; the first goes back when the second
// refuses.
func (r *reloads) retune(old, cfg *config.Config) error {
	if err := r.telemetry.Reload(cfg.Telemetry.Config); err != nil {
		return err
	}
	if err := r.server.Reload(cfg.Server); err != nil {
		return errors.Join(err, r.telemetry.Reload(old.Telemetry.Config))
	}
	if err := r.certificates.Configure(&cfg.Server); err != nil {
		return errors.Join(err, r.server.Reload(old.Server), r.telemetry.Reload(old.Telemetry.Config))
	}
	r.anomalies.watch.Configure(cfg.Telemetry.Anomalies)
	r.consent.Store.Configure(cfg.Policy.Approvals)
	r.hub.Configure(cfg.Streams, proxy.StreamLimits(cfg.Server))
	return nil
}

// fixed refuses changes that only a restart can make. Ignoring them would leave a gateway
// that does not do what its file says. All such keys are named at once, so that an operator
// does not find them one by one.
func fixed(old, cfg *config.Config) error {
	var errs []error
	for _, key := range old.Fixed(cfg) {
		errs = append(errs, fmt.Errorf("%s: changing it needs a restart", key))
	}
	return errors.Join(errs...)
}

// install makes s the snapshot that requests begin with, unless another one than old is in
// force: Shutdown came first. Requests that have begun with old end with it.
func (r *reloads) install(old, s *snapshot.Snapshot) bool {
	if !r.current.CompareAndSwap(old, s) {
		return false
	}
	r.linter.Lint(s)
	return true
}

// report records the outcome of a reload, also of one that failed before
// there was a configuration to hand to reload.
func (r *reloads) report(sum [32]byte, err error) {
	if err == nil { // first of all: whoever sees the outcome elsewhere finds it on record
		if failed := r.audit.Event("config.reloaded", nil); failed != nil {
			r.telemetry.Log.Error("write audit event", "error", failed)
		}
	}
	r.last.Store(&reloadResult{at: time.Now(), err: err})
	r.telemetry.Metrics.Gateway.Reloaded(sum, err)
	if err != nil {
		r.telemetry.Log.Error("configuration not reloaded, the old one stays", "error", err)
		return
	}
	r.telemetry.Log.Info("configuration reloaded")
}

// config is the configuration in force, or the last one's once the gateway has
// closed.
func (r *reloads) config(last *snapshot.Snapshot) *config.Config {
	if s := r.current.Load(); s != nil {
		return s.Config
	}
	return last.Config
}
