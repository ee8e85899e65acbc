package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

const (
	// pollInterval is how soon a worker sees what others have enqueued, and what is due.
	pollInterval = time.Second
	// depthInterval is how often the queue is counted.
	depthInterval = 10 * time.Second
	// batch is how many items are taken at once.
	batch = 32
	// settleTimeout bounds telling the queue what became of an item.
	settleTimeout = 5 * time.Second
)

// Clock is the time that a worker goes by.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// WorkerOptions are what a Worker needs beside its configuration.
type WorkerOptions struct {
	Queue  state.Queue
	Values state.Values // which targets have agreed; needed where challenge is required
	Cipher state.Cipher
	Holder string // of leases: this gateway, among those that share the queue

	// Egress is the way to webhooks, until Use says another; nil is direct.
	Egress *tunnel.Proxy

	// Sign makes JWTs, as keys.Ring does; nil leaves deliveries unsigned.
	Sign   func(typ string, payload []byte) (string, error)
	Issuer string // the gateway's public URL
	Name   string // the gateway's in Via, as in calls; may be empty

	// Hooks has the webhooks that deliveries are for: one whose webhook was forgotten is
	// given up. Nil: nobody is asked. Permits says whether the owner of a webhook may
	// still hear of its task, with an error that wraps ErrForbidden where not; any other
	// means that it cannot be told now. Nil: nobody is asked.
	Hooks   *Registry
	Permits func(ctx context.Context, h *Webhook) error

	// Trace begins the span of an attempt. It gives the traceparent that goes with it, and
	// what is told what the attempt came to, nil where that need not be told. Nil: what
	// the delivery has goes with it.
	Trace func(d *Delivery, attempt int) (traceparent string, end func(Outcome, int))

	Observe func(Attempt)     // hears of every attempt, from several goroutines; may be nil
	Depth   func(state.Depth) // hears how much there is to do, every 10 s; may be nil

	Log      *slog.Logger
	Clock    Clock         // nil for the system's
	Resolver *net.Resolver // nil for the system's
}

// Worker delivers what is due. Several may share a queue, in one process or many: each
// item is leased to one of them. It is safe for concurrent use.
//
// Run is one goroutine that takes items; each attempt is another, of which there are inFlight at
// most. The settings are swapped by Use and loaded anew for each item.
type Worker struct {
	WorkerOptions

	settings atomic.Pointer[settings]
	signer   signer
	targets  targets
	kick     chan struct{} // there may be something to do
	counted  time.Time     // when the queue was counted last

	slots    atomic.Int64 // deliveries under way
	running  sync.WaitGroup
	stopping chan struct{}
	stop     sync.Once
	context  context.Context // of deliveries
	abort    context.CancelFunc
	done     chan struct{} // closed when Run has ended
}

// settings change with the configuration.
type settings struct {
	Config // complete

	client *egress.Client
}

// NewWorker makes a worker; Run sets it to work. It reads the CA file.
func NewWorker(c Config, o WorkerOptions) (*Worker, error) {
	if o.Queue == nil || o.Cipher == nil || o.Holder == "" || o.Log == nil {
		return nil, errors.New("push: a worker needs a queue, a cipher, a holder and a log")
	}
	if o.Clock == nil {
		o.Clock = system{}
	}
	w := &Worker{
		WorkerOptions: o, signer: signer{o.Sign, o.Issuer, o.Name},
		kick: make(chan struct{}, 1), stopping: make(chan struct{}), done: make(chan struct{}),
	}
	w.context, w.abort = context.WithCancel(context.Background())
	return w, w.Use(c, o.Egress)
}

// Use puts another configuration in force, and the way out. With an error the one of before stays.
func (w *Worker) Use(c Config, way *tunnel.Proxy) error {
	c = c.complete()
	if c.Challenge == challengeRequired && w.Values == nil {
		return errors.New("push: a challenge needs a place to remember who has agreed")
	}
	reach := c.reach()
	reach.Resolver, reach.Proxy = w.Resolver, way
	client, err := egress.New(reach)
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	if old := w.settings.Swap(&settings{c, client}); old != nil {
		old.client.Close()
	}
	return nil
}

// Check judges the address of a webhook that somebody registers, as far as that can be
// done without asking anybody.
func (w *Worker) Check(target string) (*url.URL, error) {
	return w.settings.Load().client.Check(target)
}

// Enqueue stores a delivery; once it has returned, the delivery is safe. false: one of
// the same ID is there already. state.ErrFull when there is no room.
//
// Items are sealed before the queue sees them.
func (w *Worker) Enqueue(ctx context.Context, d *Delivery) (bool, error) {
	it, err := d.item(w.Cipher)
	if err != nil {
		return false, err
	}
	it.Pushed = w.Clock.Now()
	it.Due = it.Pushed
	added, err := w.Queue.Push(ctx, Queue, it, w.settings.Load().Queue)
	if err != nil {
		return false, fmt.Errorf("enqueue %s: %w", d, err)
	}
	w.Wake()
	return added, nil
}

// Wake has the worker look for what is due now, such as an item that was revived.
func (w *Worker) Wake() {
	select {
	case w.kick <- struct{}{}:
	default: // it is about to look anyway
	}
}

// Run takes what is due until ctx ends or Stop is called, and then waits for what is
// under way. It is called once.
func (w *Worker) Run(ctx context.Context) {
	defer close(w.done)
	defer w.running.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.stopping:
			return
		default:
		}
		if w.look(ctx) {
			continue
		}
		select {
		case <-ctx.Done():
		case <-w.stopping:
		case <-w.kick:
		case <-w.Clock.After(pollInterval):
		}
	}
}

// Stop takes nothing more and waits for what is under way. When ctx ends, that is broken
// off: it is due again when its lease has ended.
func (w *Worker) Stop(ctx context.Context) error {
	w.stop.Do(func() { close(w.stopping) })
	defer w.abort()
	select {
	case <-w.done:
		w.settings.Load().client.Close()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop push: deliveries are under way: %w", ctx.Err())
	}
}

// look begins what is due, and reports whether there may be more.
//
// It takes no more than there are places for, as a lease on an item that waits here keeps other
// gateways from it.
func (w *Worker) look(ctx context.Context) bool {
	s := w.settings.Load()
	now := w.Clock.Now()
	w.count(ctx, now)
	free := int64(s.InFlight) - w.slots.Load()
	n := min(free, batch)
	if n <= 0 {
		return false // the next that ends wakes us
	}
	items, err := w.Queue.Take(ctx, Queue, w.Holder, now, int(n), s.lease())
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("webhooks cannot be taken from the queue", "err", err)
		}
		return false
	}
	var away sync.WaitGroup // many may have to be put back, which each takes a write
	defer away.Wait()
	for _, it := range items {
		// Not s: what was enqueued under a configuration goes by that one or a later.
		if later := w.begin(w.settings.Load(), it); !later.IsZero() {
			away.Go(func() { w.putBack(ctx, it, later) })
		}
	}
	return int64(len(items)) == n
}

// count tells how much there is to do.
func (w *Worker) count(ctx context.Context, now time.Time) {
	if w.Depth == nil || now.Sub(w.counted) < depthInterval {
		return
	}
	w.counted = now
	if d, err := w.Queue.Depth(ctx, Queue, now); err == nil {
		w.Depth(d)
	}
}

// lease is longer than an attempt can take, a challenge and the word to the queue included.
func (s *settings) lease() time.Duration { return 2*s.Attempts.Timeout.Std() + 2*settleTimeout }

func (s *settings) keep() state.Keep { return state.Keep{For: s.Keep.Std(), Most: s.Queue} }

func (s *settings) limits() limits { return limits{s.InFlight, s.PerTarget} }

// system is the system's clock.
type system struct{}

func (system) Now() time.Time                         { return time.Now() }
func (system) After(d time.Duration) <-chan time.Time { return time.After(d) }
