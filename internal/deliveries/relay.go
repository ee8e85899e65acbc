// Package deliveries delivers the push notifications that agents have sent for callers, from
// the first configuration that relays them until the gateway closes.
//
// A notification that an agent sends to the gateway is stored in the queue of the state by
// the proxy (webhooks.Relay, which Take gives it). The worker takes it from there, asks
// whether its webhook may still be sent to (permits), begins a span (traced), sends it, and
// reports the attempt (attempted). Worker and queue are not replaced with the
// configuration, so that a reload loses no notification.
package deliveries

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Options are what deliveries depend on.
type Options struct {
	Telemetry *telemetry.Telemetry
	Audit     *audit.Log
	Store     state.Store
	Counts    *state.Memory // of what this gateway alone counts
	Keys      *keys.Ring    // sign what is delivered
	Cipher    state.Cipher  // seals webhooks and their deliveries
	Current   *snapshot.Current
	Started   <-chan struct{} // closed when the gateway serves
	Closed    <-chan struct{} // closed when it does no more
}

// Relay delivers what agents have sent for callers, whatever configuration it came
// under: one that relays no longer leaves nothing behind.
type Relay struct {
	Options

	worker *push.Worker // nil until a configuration relays notifications
	hooks  *push.Registry
}

// New makes a relay that has nothing to do yet.
func New(o Options) *Relay { return &Relay{Options: o} }

// Take goes over to a configuration, and is what its proxy relays notifications with; nil for
// none. The first configuration that does so begins deliveries, which go on until the gateway
// closes.
func (r *Relay) Take(cfg *config.Config, public *url.URL, egress *tunnel.Proxy) (*webhooks.Relay, error) {
	if r.worker == nil {
		if !cfg.Push.Relays() {
			return nil, nil //nolint:nilnil // no relay and no error: it is not wanted
		}
		if err := r.start(cfg, public, egress); err != nil {
			return nil, err
		}
	} else if err := r.worker.Use(cfg.Push, egress); err != nil {
		return nil, err
	}
	if !cfg.Push.Relays() {
		return nil, nil //nolint:nilnil // as above
	}
	return &webhooks.Relay{Hooks: r.hooks.With(cfg.Push, r.worker), Queue: r.worker, Counts: r.Counts}, nil
}

// Keep puts the settings of the snapshot in force back, where those of another were
// tried and that came to nothing.
func (r *Relay) Keep(old *snapshot.Snapshot) {
	if r.worker == nil || old == nil {
		return
	}
	if err := r.worker.Use(old.Config.Push, old.Egress); err != nil {
		r.Telemetry.Log.Error("deliveries go on with settings that were refused", "error", err)
	}
}

// start makes the worker of the first configuration that relays. Its holder, under which it
// takes items from the queue, is new in each process: two replicas with one id must not
// take each other's.
func (r *Relay) start(cfg *config.Config, public *url.URL, egress *tunnel.Proxy) error {
	hooks := push.NewRegistry(r.Store, r.Cipher)
	hooks.Outlast(cfg.State.KeptFor())
	worker, err := push.NewWorker(cfg.Push, push.WorkerOptions{
		Egress: egress,
		Queue:  r.Store, Values: r.Store, Cipher: r.Cipher, Holder: cfg.Server.ID + "/" + uuid.NewString(),
		Sign: r.Keys.Sign, Issuer: public.String(), Name: cfg.Server.ID, Log: r.Telemetry.Log,
		Hooks: hooks, Permits: r.permits, Trace: r.traced, Observe: r.attempted, Depth: r.queued,
	})
	if err != nil {
		return err // names the key
	}
	r.worker, r.hooks = worker, hooks
	go r.deliver(worker)
	return nil
}

// deliver begins when the gateway serves, as a configuration has to be in force that can
// be asked whether a webhook may be sent to; it ends with Close.
func (r *Relay) deliver(worker *push.Worker) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	select {
	case <-r.Started:
	case <-r.Closed:
		cancel()
	}
	worker.Run(ctx)
}

// permits asks the configuration in force whether a webhook may still be sent to. The rules
// may have changed since the webhook was registered, or its owner may have lost access.
func (r *Relay) permits(_ context.Context, h *push.Webhook) error {
	s := r.Current.Acquire()
	if s == nil {
		return errors.New("the gateway is shutting down")
	}
	defer s.Release()
	return s.Proxy.StillFor(h)
}

// lastDeliveries is how long those under way may take when the gateway closes. What is
// broken off is delivered after the next start, or by another gateway.
const lastDeliveries = 5 * time.Second

// Close stops deliveries.
func (r *Relay) Close(ctx context.Context) {
	if r.worker == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lastDeliveries)
	defer cancel()
	if err := r.worker.Stop(ctx); err != nil {
		r.Telemetry.Log.Warn("stop deliveries", "error", err)
	}
}
