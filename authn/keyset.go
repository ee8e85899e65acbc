package authn

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Timing of key set refreshes.
const (
	// minInterval separates refreshes of one issuer. Tokens with an unknown kid have
	// one refresh per interval of their own: without it, a key published a second
	// after a routine refresh would be refused for half a minute; with it, no flood
	// of made-up kids causes more than two fetches per interval.
	minInterval = 30 * time.Second
	// staleFor is how long known keys outlive their freshness while the issuer
	// cannot be reached. It never applies while the issuer answers.
	staleFor = 24 * time.Hour
	// absentFor is how long a kid that the issuer did not publish is not asked for
	// again; a routine refresh that brings it ends that at once.
	absentFor = 5 * time.Minute
	maxAbsent = 1024
)

// keySet holds the keys of one issuer and keeps them current: loaded when the first
// token arrives, refreshed in the background shortly before they go stale for as
// long as tokens come. Chains of successive configurations share it.
//
// Library key sets fetch for every token whose kid is unknown, which hands anyone a
// lever against the issuer; that is why this one exists.
type keySet struct {
	source    *source
	log       *slog.Logger
	refreshed func(issuer, result string) // never nil
	lease     lease
	ctx       context.Context // ends fetches; done when the last chain lets go
	current   atomic.Pointer[keys]
	used      atomic.Bool   // since the last refresh
	lost      atomic.Uint64 // times a key vanished: verified tokens of before are void

	mu       sync.Mutex
	flight   chan struct{}        // closed when the running fetch ends; nil when none runs
	routine  time.Time            // start of the last fetch by age
	miss     time.Time            // start of the last fetch for an unknown kid
	failures int                  // since the last success
	err      error                // of the last fetch
	absent   map[string]time.Time // unknown kids, until when not to ask
	asked    string               // the kid that the running fetch is for; empty: none
	timer    *time.Timer
}

// newKeySet prepares a key set; nothing is fetched yet, so that a gateway starts,
// and a configuration is validated, while the issuer is down.
func newKeySet(ctx context.Context, is *Issuer, o *Options) *keySet {
	// Values of ctx are kept, its end is not: the set outlives the chain it was
	// made for, and the lease ends it.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &keySet{source: newSource(is, o.Client, o.Now), log: o.Logger, refreshed: o.Refreshed,
		ctx: ctx, absent: make(map[string]time.Time)}
	s.lease.start(func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer != nil {
			s.timer.Stop()
		}
	})
	return s
}

// find returns the key for kid. The error is a *Refused when the issuer's keys are
// known and this is none of them, and wraps ErrUnavailable when they are not known.
func (s *keySet) find(ctx context.Context, kid string, a algorithm) (*publicKey, error) {
	s.touch()
	start := s.source.now()
	known, err := s.usable(ctx)
	if err != nil {
		return nil, err
	}
	key, err := known.find(kid, a)
	if err == nil || !isUnknown(err) {
		return key, err
	}
	// Two rounds: the first may only join a routine fetch that was answered before
	// the key was published.
	for range 2 {
		if !known.fetched.Before(start) {
			return nil, err // asked for this very token: it is really not there
		}
		wait := s.ask(kid)
		if wait == nil {
			return nil, err
		}
		if waitErr := await(ctx, wait); waitErr != nil {
			return nil, waitErr
		}
		known = s.current.Load()
		if key, err = known.find(kid, a); err == nil || !isUnknown(err) {
			return key, err
		}
	}
	return nil, err
}

// touch notes that the keys are in use, so that they are refreshed before they go
// stale. The load spares a write to a line that every core reads.
func (s *keySet) touch() {
	if !s.used.Load() {
		s.used.Store(true)
	}
}

// usable returns the current keys, refreshed when they are past their age: that is
// the moment when a key which the issuer removed stops being good.
func (s *keySet) usable(ctx context.Context) (*keys, error) {
	known := s.current.Load()
	if known != nil && s.source.now().Before(known.fresh) {
		return known, nil
	}
	if wait := s.renew(); wait != nil {
		if err := await(ctx, wait); err != nil {
			return nil, err
		}
	}
	known = s.current.Load()
	if known == nil || s.source.now().After(known.fresh.Add(staleFor)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, fmt.Errorf("%w: issuer %s: %w", ErrUnavailable, s.source.issuer, s.cause())
	}
	return known, nil
}

// cause is the last error of the issuer, or a word for its absence.
func (s *keySet) cause() error {
	if s.err == nil {
		return context.DeadlineExceeded
	}
	return s.err
}

// renew starts a fetch by age, or joins the running one; nil means that there is
// nothing to wait for. While the issuer fails nobody waits for it: known keys are
// used as they are, and callers with nothing known are told at once.
func (s *keySet) renew() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	healthy := s.failures == 0 || s.current.Load() == nil
	now := s.source.now()
	if s.flight == nil && now.Sub(s.routine) >= s.pause() {
		s.routine = now
		s.launch()
	}
	if s.flight == nil || !healthy {
		return nil
	}
	return s.flight
}

// pause is the least time between fetches by age. Before anything is known it
// begins at a second and doubles, so that a gateway started before its issuer
// serves soon after it.
func (s *keySet) pause() time.Duration {
	if s.current.Load() != nil || s.failures > 5 {
		return minInterval
	}
	if s.failures == 0 {
		return 0
	}
	return min(time.Second<<(s.failures-1), minInterval)
}

// ask starts a fetch for an unknown kid, or joins the running one; nil means no.
func (s *keySet) ask(kid string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.source.now()
	if until, ok := s.absent[kid]; ok && now.Before(until) {
		return nil
	}
	if s.flight == nil {
		if now.Sub(s.miss) < minInterval {
			return nil
		}
		s.miss, s.asked = now, kid
		s.launch()
	}
	if s.failures > 0 {
		return nil
	}
	return s.flight
}

// note remembers a kid that the issuer, asked for it, does not publish. A full table forgets what has lapsed and, if that
// is nothing, does not grow: the interval holds a flood back anyway.
func (s *keySet) note(kid string, now time.Time) {
	if len(s.absent) >= maxAbsent {
		for k, until := range s.absent {
			if !now.Before(until) {
				delete(s.absent, k)
			}
		}
	}
	if len(s.absent) < maxAbsent {
		s.absent[kid] = now.Add(absentFor)
	}
}

// launch fetches in a goroutine of its own, so that a caller who hangs up does not
// end the fetch that others wait for. s.mu is held.
func (s *keySet) launch() {
	done := make(chan struct{})
	s.flight = done
	s.used.Store(false)
	go func() {
		defer close(done)
		next, err := s.source.keys(s.ctx)
		s.settle(next, err)
	}()
}

// settle takes the result of a fetch over and plans the next one.
func (s *keySet) settle(next *keys, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight = nil
	if s.ctx.Err() != nil {
		return
	}
	s.err = err
	if err != nil {
		s.failed(err)
	} else {
		s.succeeded(next)
	}
	s.asked = ""
	s.plan()
}

func (s *keySet) failed(err error) {
	s.failures++
	s.refreshed(s.source.issuer, "failed")
	level := slog.LevelDebug // an outage of hours is one warning, not hundreds
	if s.failures == 1 {
		level = slog.LevelWarn
	}
	s.log.Log(s.ctx, level, "issuer keys not refreshed", "issuer", s.source.issuer,
		"known", s.current.Load() != nil, "err", err)
}

func (s *keySet) succeeded(next *keys) {
	old := s.current.Load()
	if s.failures > 0 || old == nil {
		s.log.Info("issuer keys loaded", "issuer", s.source.issuer, "keys", len(next.list))
	}
	s.failures = 0
	s.refreshed(s.source.issuer, "ok")
	s.current.Store(next)
	if s.asked != "" && !next.has(s.asked) {
		s.note(s.asked, s.source.now())
	}
	if old != nil && old.lost(next) {
		s.log.Info("issuer keys rotated out", "issuer", s.source.issuer, "keys", len(next.list))
		s.lost.Add(1)
	}
}

// plan arms the background refresh: a little before the keys go stale, so that no
// caller waits, and not for all gateways at the same moment.
func (s *keySet) plan() {
	known := s.current.Load()
	if known == nil {
		return // the next token asks
	}
	wait := minInterval
	if s.failures == 0 {
		life := known.fresh.Sub(known.fetched)
		wait = max(life-life/10-rand.N(life/10), minInterval)
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(wait, func() {
		if s.used.Load() && s.ctx.Err() == nil {
			s.renew()
		}
	})
}

// bound shortens the time for which a verification may be remembered, so that it
// does not outlive the age of the keys it rests on. While the issuer is away and
// stale keys serve, there is no such age.
func (s *keySet) bound(until, now time.Time) time.Time {
	if k := s.current.Load(); k != nil && k.fresh.After(now) && k.fresh.Before(until) {
		return k.fresh
	}
	return until
}

// warm loads the keys if they are not known, and says why they are not.
func (s *keySet) warm(ctx context.Context) error {
	s.touch()
	_, err := s.usable(ctx)
	return err
}

// await waits for a fetch or for the caller to give up.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
}

// isUnknown tells the one refusal that a refresh may cure from the others.
func isUnknown(err error) bool {
	r, ok := err.(*Refused) //nolint:errorlint // made one call away, never wrapped
	return ok && r.fault == faultUnknownKey
}
