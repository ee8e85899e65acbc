// Package gateway turns a configuration into a running gateway: it builds an
// immutable snapshot, swaps it in, listens and drains.
//
// It owns lifecycle and order: what is long-lived (listeners, telemetry, audit
// log, state) and what is rebuilt on reload (everything else). It does not own
// any of the parts. It may import every package but cmd and internal/demo.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/health"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/operator"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Options are what a configuration file does not say.
type Options struct {
	Version string          // of the binary
	Sockets *server.Sockets // that the process was started with; may be nil
}

// Gateway is a running gateway. Its methods are safe for concurrent use.
type Gateway struct {
	telemetry *telemetry.Telemetry
	egress    *tunnel.Proxy // of what outlives configurations: the way out of the one in force
	audit     *audit.Log
	sinks     *sink.Sinks       // of its records
	records   *operator.Records // as operators read them
	store     state.Store
	lostState atomic.Pointer[error] // why the file of the state is not where it was; nil while it is
	local     *state.Memory         // the store itself, or what stands in for it when limits are counted
	peers     *operator.Peers
	revoked   *revocation.Watcher // nil where nobody else can revoke keys
	keys      *keys.Ring
	salt      []byte // of contexts that are renamed for callers
	anomalies *anomaly.Watch
	push      *deliverer  // nil until a configuration relays notifications
	book      *trust.Book // of the cards that were seen
	names     trust.Fleet // of agents, by their cards in force

	sockets *server.Sockets
	server  *server.Server
	status  *statusServer
	console *console.Console // nil where it is off
	roster  *roster          // agents that are in no file
	health  *health.Server   // gRPC's view of whether the gateway serves

	certificates *certificates // from a CA; nil without server.tls.acme

	started   chan struct{} // closed by Start
	draining  atomic.Bool
	onDrain   func(end func()) (stop func() bool) // runs end when open streams have to end
	farewell  context.CancelFunc                  // tells open streams to end with a last event
	closing   sync.Once
	closed    chan struct{} // closed when the parts are
	reloading sync.Mutex    // one reload at a time
	began     time.Time
	trends    trends
	follows   atomic.Bool         // a file is followed
	asks      chan chan error     // of operators for a reload; each hears what it came to
	work      overload.Ladder     // what all of them have to do
	standing  []overload.Rung     // as reported last
	hub       *stream.Hub         // streams of agents
	streams   openstreams.Streams // event streams that are open, whichever snapshot they began with
	shown     ownership.Shown     // what agents have shown of tasks, likewise
	current   snapshot.Current
	reload    atomic.Pointer[reloadResult]
	linting   chan struct{} // holds one when the configuration in force is to be looked at
	turns     card.Turns    // of those who fetch cards
}

// New builds everything and opens the listening sockets, so that a port in use
// or an unreadable certificate is an error here and not a log line later.
// Nothing is served before Start.
func New(ctx context.Context, cfg *config.Config, o Options) (_ *Gateway, err error) {
	g := &Gateway{
		started: make(chan struct{}), closed: make(chan struct{}), health: newHealth(), sockets: o.Sockets,
		linting: make(chan struct{}, 1), turns: card.NewTurns(), began: time.Now(), trends: trends{at: time.Now(), steps: map[string]*[trendSteps]float64{}}, asks: make(chan chan error),
	}
	streams, farewell := context.WithCancel(context.WithoutCancel(ctx))
	g.farewell = farewell
	g.onDrain = func(end func()) func() bool { return context.AfterFunc(streams, end) }
	if g.sockets == nil {
		g.sockets = new(server.Sockets)
	}
	if g.egress, err = tunnel.New(cfg.Egress); err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	visible := cfg.Telemetry.Config
	visible.Egress = g.egress
	g.telemetry, err = telemetry.Open(ctx, visible, o.Version)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	defer func() {
		if err != nil {
			g.closeParts(ctx)
		}
	}()
	if err = g.openAudit(cfg); err != nil {
		return nil, err
	}
	if err = g.openStore(ctx, cfg.State); err != nil {
		return nil, err
	}
	g.streams.Retention = cfg.State.KeptFor()
	g.markAudit(ctx, cfg)
	if g.server, err = server.New(cfg.Server, g, g.telemetry.Log); err != nil {
		return nil, err // names its keys, as in server.tls
	}
	g.server.Sockets, g.server.Refused = g.sockets, g.telemetry.Metrics.Shed
	g.server.Malformed, g.server.Flooded = g.telemetry.Metrics.Malformed, g.telemetry.Metrics.Flooded
	// The socket first: with port 0, the URLs in cards depend on it. Requests wait
	// for Start.
	if err := g.server.Start(); err != nil {
		return nil, err
	}
	if g.status, err = newStatusServer(g, &cfg.Server); err != nil {
		return nil, fmt.Errorf("server.statusAddress: %w", err)
	}
	if g.keys, err = keys.Open(cfg.Keys, g.telemetry.Log); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	g.audit.SignWith(g.keys)
	if err = g.audit.KeepWith(g.keys); err != nil {
		return nil, err
	}
	g.book = g.newBook()
	if err = g.openConsole(cfg, o.Version); err != nil {
		return nil, err
	}
	g.telemetry.Metrics.SetLabels(labels(cfg)) // orders are counted
	if err = g.openCertificates(cfg); err != nil {
		return nil, err
	}
	g.sockets.CloseRest()
	g.salt = g.keys.Derive("contexts")
	if err = g.watch(ctx, cfg); err != nil {
		return nil, err
	}
	g.hub = g.newHub(cfg)
	g.telemetry.Metrics.Upstreams(g.upstreams)
	g.telemetry.Metrics.Condition(g.condition)
	g.openRoster(ctx, cfg)
	s, err := g.build(ctx, g.enlist(cfg), nil)
	if err != nil {
		return nil, err
	}
	g.install(nil, s)
	g.telemetry.Metrics.Reloaded(cfg.Common, nil)
	return g, nil
}

// Start serves. It returns at once.
func (g *Gateway) Start() {
	g.status.start()
	g.console.Start()
	close(g.started)
	go g.review()
	go g.renew()
	go g.lintChanges()
	go g.watchStanding()
	go g.followRoster()
	go g.work.Watch(g.closed, g.current.Bounds, g.report)
	g.peers.Start()
	if g.revoked != nil { // as with keys: others may decide
		go g.watchDecisions()
	}
	g.telemetry.Log.Info("serving", append([]any{"url", g.server.URL(), "public_url", g.server.PublicURL(),
		"status_url", g.StatusURL(), "admin_url", g.AdminURL()}, g.consoleAttrs()...)...)
}

// Log is where the gateway says what happens.
func (g *Gateway) Log() *slog.Logger { return g.telemetry.Log }

// URL is the public listener's address as a URL with the port really bound.
func (g *Gateway) URL() string { return g.server.URL() }

// StatusURL is the status listener's.
func (g *Gateway) StatusURL() string { return g.status.url() }

// ServeHTTP serves one request from the snapshot it begins with.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.ready(r.Context()) {
		return
	}
	s := g.current.Acquire()
	if s == nil { // a request that was on its way when Shutdown gave up waiting
		w.Header().Set("Connection", "close")
		wire.WriteError(w, nil, wire.Errorf(wire.Unavailable, "the gateway is shutting down"))
		return
	}
	defer s.Release()
	s.Proxy.ServeHTTP(w, r)
}

// ready waits until calls are served, or nobody waits for that any more.
func (g *Gateway) ready(ctx context.Context) bool {
	select {
	case <-g.started: // nearly always, and then nothing is made to wait with
		return true
	default:
	}
	select {
	case <-g.started:
		return true
	case <-ctx.Done():
		return false
	}
}

// closeParts ends what New began, last first. It is also New's way back.
func (g *Gateway) closeParts(ctx context.Context) {
	g.closing.Do(func() {
		close(g.closed)
		g.close(ctx)
	})
}

// reviewEvery is how often the callers of open streams are looked at: one whose key was
// revoked hears no more of its streams after that long.
const reviewEvery = 2 * time.Second

// review ends streams whose callers may no longer have them.
func (g *Gateway) review() {
	tick := time.NewTicker(reviewEvery)
	defer tick.Stop()
	for {
		select {
		case <-g.closed:
			return
		case <-tick.C:
			if s := g.current.Acquire(); s != nil {
				g.streams.Review(s.Proxy)
				s.Release()
			}
		}
	}
}

func (g *Gateway) close(ctx context.Context) {
	if s := g.current.Swap(nil); s != nil {
		s.Release()
	}
	if g.status != nil {
		g.status.close()
	}
	g.console.Close()
	g.certificates.close()
	if g.server != nil {
		cut, cancel := context.WithCancel(ctx)
		cancel() // Shutdown has waited as long as it may; New's way back has nobody to wait for
		_ = g.server.Shutdown(cut)
	}
	g.roster.close()
	g.closePush(ctx)
	if g.hub != nil {
		g.hub.Close()
	}
	g.anomalies.Close()
	var errs []error
	if g.audit != nil {
		errs = append(errs, g.audit.Close(), g.sinks.Close(ctx), g.records.Close())
	}
	if g.keys != nil {
		g.keys.Close()
	}
	g.peers.Close()
	if g.revoked != nil {
		g.revoked.Close()
	}
	if g.store != nil {
		errs = append(errs, g.store.Close())
	}
	if g.local != nil && g.store != state.Store(g.local) {
		errs = append(errs, g.local.Close())
	}
	if err := errors.Join(errs...); err != nil {
		g.telemetry.Log.Error("close", "error", err)
	}
	if g.draining.Load() { // not on New's way back
		g.telemetry.Log.Info("stopped")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = g.telemetry.Close(ctx) // what could not be exported has nowhere else to go
}
