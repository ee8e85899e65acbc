package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
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
	// probed is how long the key stays that is written to find out.
	probed = time.Minute
)

// guard keeps calls away from a server that is down, and what has to be recorded from one
// that refuses writes; reads go on there. It finds out by itself when it serves again: no
// call has to wait for that.
//
//	closed    calls pass; five failures in a row open it
//	open      calls are refused at once; a probe asks until the server answers, and closes it
//	refusing  closed, but writes are refused: Away says so, reads pass
type guard struct {
	s       *servers
	tag     string // hash tag, braces included
	breaker circuitbreaker.CircuitBreaker[any]
	down    error
	cause   atomic.Pointer[error] // of the latest failure
	refuses atomic.Pointer[error] // what the server says to writes; nil while it takes them
	wrote   atomic.Int64          // when a write last worked, in Unix nanoseconds
}

// guard finds that of a hash tag. Nodes of a cluster fail one by one, and which of them
// holds a tag may change; hence one for each tag there.
func (s *servers) guard(tag string) *guard {
	if s.only != nil {
		return s.only
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// There are as many tags as agents, spaces, queues and 256 for logs: few enough to keep.
	g := s.guards[tag]
	if g == nil {
		g = s.newGuard(tag)
		s.guards[tag] = g
	}
	return g
}

// all are the guards that there are.
func (s *servers) all() []*guard {
	if s.only != nil {
		return []*guard{s.only}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.guards))
}

// newGuard makes the circuit breaker of a hash tag, closed: a server counts as up until it fails.
func (s *servers) newGuard(tag string) *guard {
	g := &guard{s: s, tag: tag, down: fmt.Errorf("%w: redis did not answer lately", state.ErrUnavailable)}
	// Nothing but the probe closes it. The delay only has to be longer than any outage.
	g.breaker = circuitbreaker.NewBuilder[any]().WithFailureThreshold(failures).
		WithDelay(100 * 365 * 24 * time.Hour).OnOpen(g.opened).Build()
	return g
}

// admit returns state.ErrUnavailable while the server is known to be down, nil otherwise.
func (g *guard) admit() error {
	if g.breaker.TryAcquirePermit() {
		return nil
	}
	return g.down
}

// report counts what became of an operation. A server that answers is up, whatever it
// answers, and one that refuses a write will refuse the next.
func (g *guard) report(err error) {
	said := reply(err)
	if err == nil || said != "" || errors.Is(err, errRecord) {
		g.breaker.RecordSuccess()
		if says(said, refusals) {
			g.refuse(classify(err))
		}
		return
	}
	// For opened, which is called from within RecordFailure.
	g.cause.Store(&err)
	g.breaker.RecordFailure()
}

// opened starts the probe, one for each time that the breaker opens.
func (g *guard) opened(circuitbreaker.StateChangedEvent) {
	g.watch("redis does not answer: what needs it is refused until it does", *g.cause.Load(), "redis answers again", func() bool {
		if !g.alive() {
			return false
		}
		g.breaker.Close()
		return true
	})
}

// refuse notes that the server refuses writes, and looks for the end of that.
func (g *guard) refuse(why error) {
	if !g.refuses.CompareAndSwap(nil, &why) {
		return
	}
	g.wrote.Store(0)
	g.watch("redis refuses writes: what has to be recorded is refused until it takes them", why, "redis takes writes again", func() bool {
		if err := g.write(); err != nil {
			return false
		}
		g.refuses.Store(nil)
		return true
	})
}

// watch says what began, looks again and again whether it is over, and says that.
func (g *guard) watch(began string, why error, ended string, over func() bool) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	// running must not grow once Close waits for it.
	if g.s.closed {
		return
	}
	g.s.log.Warn(began, "keys", g.tag, "error", why)
	g.s.running.Go(func() {
		since := time.Now()
		tick := time.NewTicker(probing)
		defer tick.Stop()
		for {
			select {
			case <-g.s.closing:
				return
			case <-tick.C:
			}
			if over() {
				g.s.log.Info(ended, "keys", g.tag, "after", time.Since(since).Round(time.Millisecond))
				return
			}
		}
	})
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

// write writes that key, whatever is thought of the server.
func (g *guard) write() error {
	ctx, cancel := context.WithTimeout(context.Background(), g.s.timeout)
	defer cancel()
	return g.put(ctx)
}

// put writes the probe's key, which expires by itself.
func (g *guard) put(ctx context.Context) error {
	// Redis refuses this command whenever it refuses any that makes a record.
	err := g.s.client.Set(ctx, g.tag+":probe", "", probed).Err()
	if err == nil {
		// From now on: on a long way to the server it would be over before it is said, and each
		// call ask once for the agent and once more for its backend.
		g.wrote.Store(time.Now().UnixNano())
	}
	return err
}

// prove writes the key of the tag as an operation of a caller's, unless a write has just
// worked.
func (g *guard) prove(ctx context.Context) error {
	if time.Now().UnixNano()-g.wrote.Load() < int64(state.Proven) {
		return nil
	}
	err := g.s.do(ctx, g.tag, "write", g.put)
	if err != nil && !errors.Is(err, state.ErrUnavailable) && ctx.Err() == nil {
		err = state.Refusing("redis", err) // in words that no server we know has
	}
	return err
}

// away is why the tag's server is known not to take records, nil where it may.
func (g *guard) away() error {
	if g.breaker.IsOpen() {
		return g.down
	}
	if why := g.refuses.Load(); why != nil {
		return *why
	}
	return nil
}

// Away implements state.Distant.
func (s *servers) Away(agent string) error {
	if agent != "" || s.only != nil {
		return s.guard(s.names.tag(agent)).away()
	}
	for _, g := range s.all() {
		if err := g.away(); err != nil {
			return err
		}
	}
	return nil
}

// Ready implements state.Distant.
func (s *servers) Ready(ctx context.Context, agent string) error {
	g := s.guard(s.names.tag(agent))
	if err := g.away(); err != nil {
		return err
	}
	return g.prove(ctx)
}
