package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
)

const (
	// failures in a row after which a server counts as down.
	failures = 5
	// probing is how long to wait between looks at a server that is down.
	probing = 250 * time.Millisecond
)

// guard keeps calls away from a server that is down, and finds out by itself when it is
// there again: no call has to wait for that.
type guard struct {
	s       *Store
	tag     string
	breaker circuitbreaker.CircuitBreaker[any]
	down    error
	cause   atomic.Pointer[error] // of the latest failure
}

// guard finds that of a hash tag. Nodes of a cluster fail one by one, and which of them
// holds a tag may change; hence one for each tag there.
func (s *Store) guard(tag string) *guard {
	if s.only != nil {
		return s.only
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guards[tag]
	if g == nil {
		g = s.newGuard(tag)
		s.guards[tag] = g
	}
	return g
}

func (s *Store) newGuard(tag string) *guard {
	g := &guard{s: s, tag: tag, down: fmt.Errorf("%w: redis did not answer lately", state.ErrUnavailable)}
	// Nothing but the probe closes it. The delay only has to be longer than any outage.
	g.breaker = circuitbreaker.NewBuilder[any]().WithFailureThreshold(failures).
		WithDelay(100 * 365 * 24 * time.Hour).OnOpen(g.opened).Build()
	return g
}

func (g *guard) admit() error {
	if g.breaker.TryAcquirePermit() {
		return nil
	}
	return g.down
}

// report counts what became of an operation. A server that answers is up, whatever it
// answers.
func (g *guard) report(err error) {
	if err == nil || reply(err) != "" || errors.Is(err, errRecord) {
		g.breaker.RecordSuccess()
		return
	}
	g.cause.Store(&err)
	g.breaker.RecordFailure()
}

// opened starts the probe, one for each time that the breaker opens.
func (g *guard) opened(circuitbreaker.StateChangedEvent) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.s.closed {
		return
	}
	g.s.log.Warn("redis does not answer: what needs it is refused until it does",
		"keys", g.tag, "error", *g.cause.Load())
	g.s.running.Go(g.probe)
}

func (g *guard) probe() {
	since := time.Now()
	tick := time.NewTicker(probing)
	defer tick.Stop()
	for {
		select {
		case <-g.s.closing:
			return
		case <-tick.C:
		}
		if g.alive() {
			g.breaker.Close()
			g.s.log.Info("redis answers again", "keys", g.tag, "after", time.Since(since).Round(time.Millisecond))
			return
		}
	}
}

// alive asks the server. Where that works, or fails because a connection had ended, the
// idle connections that have ended too are shaken out, before calls come by them.
func (g *guard) alive() bool {
	err := g.ask()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		return false
	}
	var all sync.WaitGroup
	for range g.s.client.PoolStats().IdleConns {
		all.Go(func() { _ = g.ask() })
	}
	all.Wait()
	return g.ask() == nil
}

// ask reads a key of the tag: a server that is loading its data answers, but not that.
func (g *guard) ask() error {
	ctx, cancel := context.WithTimeout(context.Background(), g.s.timeout)
	defer cancel()
	return known(g.s.client.Get(ctx, g.tag+":probe").Err())
}

// Away implements state.Distant.
func (s *Store) Away(agent string) error {
	if g := s.guard(s.names.tag(agent)); g.breaker.IsOpen() {
		return g.down
	}
	return nil
}
