package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// pushSeal is what webhooks and their deliveries are sealed for.
const pushSeal = "push"

// sealing is a ring of keys as a state.Cipher of one purpose.
type sealing struct {
	ring    *keys.Ring
	purpose string
}

// Seal implements state.Cipher.
func (s sealing) Seal(plain, aad []byte) []byte { return s.ring.Seal(s.purpose, plain, aad) }

// Open implements state.Cipher.
func (s sealing) Open(sealed, aad []byte) ([]byte, error) {
	return s.ring.Unseal(s.purpose, sealed, aad)
}

// deliverer delivers what agents have sent for callers, whatever configuration it came
// under: one that relays no longer leaves nothing behind.
type deliverer struct {
	worker *push.Worker
	hooks  *push.Registry
}

// relay is what the proxy of a configuration relays notifications with; nil for none. The
// first configuration that does so begins deliveries, which go on until the gateway
// closes.
func (g *Gateway) relay(cfg *config.Config, egress *tunnel.Proxy) (*webhooks.Relay, error) {
	if g.push == nil {
		if !cfg.Push.Relays() {
			return nil, nil //nolint:nilnil // no relay and no error: it is not wanted
		}
		if err := g.startPush(cfg, egress); err != nil {
			return nil, err
		}
	} else if err := g.push.worker.Use(cfg.Push, egress); err != nil {
		return nil, err
	}
	if !cfg.Push.Relays() {
		return nil, nil //nolint:nilnil // as above
	}
	return &webhooks.Relay{Hooks: g.push.hooks.With(cfg.Push, g.push.worker), Queue: g.push.worker, Counts: g.local}, nil
}

// keepPush puts the settings of the snapshot in force back, where those of another were
// tried and that came to nothing.
func (g *Gateway) keepPush(old *snapshot.Snapshot) {
	if g.push == nil || old == nil {
		return
	}
	if err := g.push.worker.Use(old.Config.Push, old.Egress); err != nil {
		g.telemetry.Log.Error("deliveries go on with settings that were refused", "error", err)
	}
}

func (g *Gateway) startPush(cfg *config.Config, egress *tunnel.Proxy) error {
	public, err := g.publicURL(cfg)
	if err != nil {
		return fmt.Errorf("server.publicURL: %w", err)
	}
	cipher := sealing{g.keys, pushSeal}
	hooks := push.NewRegistry(g.store, cipher)
	hooks.Outlast(cfg.State.KeptFor())
	worker, err := push.NewWorker(cfg.Push, push.WorkerOptions{
		Egress: egress,
		Queue:  g.store, Values: g.store, Cipher: cipher, Holder: cfg.Server.ID + "/" + uuid.NewString(),
		Sign: g.keys.Sign, Issuer: public.String(), Name: cfg.Server.ID, Log: g.telemetry.Log,
		Hooks: hooks, Permits: g.permits, Trace: g.traced, Observe: g.attempted, Depth: g.queued,
	})
	if err != nil {
		return err // names the key
	}
	g.push = &deliverer{worker, hooks}
	go g.deliver(worker)
	return nil
}

// deliver begins when the gateway serves, as a configuration has to be in force that can
// be asked whether a webhook may be sent to; it ends with closePush.
func (g *Gateway) deliver(worker *push.Worker) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	select {
	case <-g.started:
	case <-g.closed:
		cancel()
	}
	worker.Run(ctx)
}

// permits asks the configuration in force whether a webhook may still be sent to.
func (g *Gateway) permits(_ context.Context, h *push.Webhook) error {
	s := g.current.Acquire()
	if s == nil {
		return errors.New("the gateway is shutting down")
	}
	defer s.Release()
	return s.Proxy.StillFor(h)
}

// lastDeliveries is how long those under way may take when the gateway closes. What is
// broken off is delivered after the next start, or by another gateway.
const lastDeliveries = 5 * time.Second

func (g *Gateway) closePush(ctx context.Context) {
	if g.push == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lastDeliveries)
	defer cancel()
	if err := g.push.worker.Stop(ctx); err != nil {
		g.telemetry.Log.Warn("stop deliveries", "error", err)
	}
}
