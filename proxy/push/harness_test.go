package push

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// clock goes on by itself whenever its worker waits and nothing is under way: a day of
// waiting takes as long as its steps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	turn  int
	limit time.Time // where it stands still; zero: nowhere
	idle  func() bool
	over  func() bool // the worker will not wait again
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
	turn, fired := c.turn, make(chan time.Time)
	go func() {
		for !c.goOn(turn, d, fired) {
			time.Sleep(100 * time.Microsecond)
		}
	}()
	return fired
}

// goOn lets d pass if the worker waits for it, and reports whether it need not be called
// again. A worker that was woken does not receive, so no time passes while it looks.
func (c *clock) goOn(turn int, d time.Duration, fired chan<- time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn != turn || c.over() {
		return true
	}
	if c.reached() || !c.idle() {
		return false
	}
	select {
	case fired <- c.now.Add(d):
		c.now = c.now.Add(d)
		return true
	default:
		return false
	}
}

// stop has the clock stand still when it gets to a time, or never.
func (c *clock) stop(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = at
}

// stands reports whether it has come to where it stops.
func (c *clock) stands() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached()
}

func (c *clock) reached() bool { return !c.limit.IsZero() && !c.now.Before(c.limit) }

// got is one request that a receiver saw.
type got struct {
	at     time.Time // of the clock
	method string
	path   string
	query  string
	header http.Header
	body   string
}

func (g got) id() string { return g.header.Get("Webhook-Id") }

// receiver is somebody's webhooks.
type receiver struct {
	*httptest.Server

	mu  sync.Mutex
	all []got
}

// receive serves webhooks. answer decides; nil is 204.
func receive(t testing.TB, c Clock, answer func(http.ResponseWriter, got)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		g := got{c.Now(), q.Method, q.URL.Path, q.URL.RawQuery, q.Header, string(body)}
		r.mu.Lock()
		r.all = append(r.all, g)
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, g)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) seen() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]got(nil), r.all...)
}

// ids are those of the notifications, in the order in which they came.
func (r *receiver) ids(path string) (ids []string) {
	for _, g := range r.seen() {
		if g.path == path {
			ids = append(ids, g.id())
		}
	}
	return ids
}

// bench is a worker with all that it needs.
type bench struct {
	*Worker

	store    *state.Memory
	clock    *clock
	mu       sync.Mutex
	attempts []Attempt
}

func open() Config {
	return Config{Mode: "relay", Plaintext: true, AllowPrivateNetworks: true}
}

// work starts a worker on a store of its own.
func work(t testing.TB, c Config, change ...func(*WorkerOptions)) *bench {
	t.Helper()
	store := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = store.Close() })
	b := &bench{store: store, clock: newClock()}
	o := WorkerOptions{
		Queue: store, Values: store, Cipher: newCipher(t), Holder: "replica-1", Clock: b.clock, Log: slog.New(slog.DiscardHandler),
		Observe: func(a Attempt) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.attempts = append(b.attempts, a)
		},
	}
	for _, f := range change {
		f(&o)
	}
	w, err := NewWorker(c, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Worker = w
	b.clock.idle = func() bool { return w.slots.Load() == 0 }
	b.clock.over = func() bool { return w.context.Err() != nil }
	go w.Run(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) observed() []Attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Attempt(nil), b.attempts...)
}

// await waits until enough attempts have come to an outcome.
func (b *bench) await(t testing.TB, outcome Outcome, n int) {
	t.Helper()
	wait(t, fmt.Sprintf("%d %s", n, outcome), func() bool { return b.outcomes(outcome) >= n })
}

func (b *bench) outcomes(outcome Outcome) (n int) {
	for _, a := range b.observed() {
		if a.Outcome == outcome {
			n++
		}
	}
	return n
}

func wait(t testing.TB, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (b *bench) push(t testing.TB, d *Delivery) {
	t.Helper()
	if added, err := b.Enqueue(t.Context(), d); err != nil || !added {
		t.Fatalf("enqueue: %v, %v", added, err)
	}
}

// oneEach is a notification for each of some tasks.
func oneEach(url string, tasks int) (all []*Delivery) {
	for i := range tasks {
		all = append(all, notification(url, fmt.Sprintf("t%d", i), 0))
	}
	return all
}

// pushAll enqueues all at one time of the clock, which it returns, however long it takes.
func (b *bench) pushAll(t testing.TB, all ...*Delivery) (at time.Time) {
	t.Helper()
	b.clock.stop(b.clock.Now())
	defer b.clock.stop(time.Time{})
	for _, d := range all {
		b.push(t, d)
	}
	return b.clock.Now()
}

func notification(url, task string, n int) *Delivery {
	return &Delivery{
		ID: fmt.Sprintf("%s-%d", task, n), Agent: "billing", Task: task, Config: "c", Owner: "alice", Version: wire.V10,
		URL: url + "/" + task, Body: fmt.Appendf(nil, `{"n":%d}`, n), Token: secret.New("token-" + task),
	}
}

func (b *bench) depth(t testing.TB) state.Depth {
	t.Helper()
	d, err := b.store.Depth(t.Context(), Queue, b.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
