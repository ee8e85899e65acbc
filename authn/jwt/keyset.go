package jwt

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Timing of key set refreshes.
const (
	// minInterval separates refreshes of one issuer by age. Tokens with an unknown kid
	// have refreshes of their own (misses): without them, a key published a second
	// after a routine refresh would be refused for half a minute.
	minInterval = 30 * time.Second
	// staleFor is how long known keys outlive their freshness while the issuer
	// cannot be reached. It never applies while the issuer answers.
	staleFor = 24 * time.Hour
	// absentFor is how long a kid that the issuer did not publish is not asked for
	// again by the same address; a routine refresh that brings it ends that at once.
	absentFor = 5 * time.Minute
	maxAbsent = 1024
)

// keySet holds the keys of one issuer, its JWKS, and keeps them current: loaded when the first
// token arrives, refreshed in the background shortly before they go stale for as
// long as tokens come. Chains of successive configurations share it.
//
// Library key sets fetch for every token whose kid is unknown, which hands anyone a
// lever against the issuer; that is why this one exists.
//
//	fresh          keys are used; a refresh is planned for shortly before the end
//	stale          the next token waits for a fetch, or uses the keys while the issuer is down
//	older (24h)    nothing is known: authn.ErrUnavailable, 503
//
// A fetch runs in its own goroutine, one at a time; tokens wait for it or not, as usable and find
// say.
type keySet struct {
	source    *source
	log       *slog.Logger
	refreshed func(issuer, result string) // never nil
	skipped   func(reason string)         // never nil
	lease     authn.Lease
	ctx       context.Context // ends fetches; done when the last chain lets go
	current   atomic.Pointer[keys]
	used      atomic.Bool   // since the last refresh
	lost      atomic.Uint64 // times a key vanished: verified tokens of before are void

	mu sync.Mutex
	// Everything from here on is guarded by mu; calls with known keys never take it.
	flight   chan struct{}        // closed when the running fetch ends; nil when none runs
	routine  time.Time            // start of the last fetch by age
	misses   misses               // fetches for unknown kids
	missed   time.Time            // start of the last of them
	failures int                  // since the last success
	err      error                // of the last fetch
	absent   map[absent]time.Time // unknown kids, until when not to ask
	asked    absent               // what the running fetch is for; without kid: its age
	timer    *time.Timer
}

// absent is a kid that somebody asked for. Others are asked for by themselves: a kid can
// be guessed before it is published, and must not be known as unknown to whoever gets the
// first token with it.
type absent struct {
	kid  string
	from netip.Addr
}

// newKeySet prepares a key set; nothing is fetched yet, so that a gateway starts,
// and a configuration is validated, while the issuer is down.
func newKeySet(ctx context.Context, is *Issuer, o *Options) *keySet {
	// Values of ctx are kept, its end is not: the set outlives the chain it was
	// made for, and the lease ends it.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &keySet{source: newSource(is, o.Client, o.Egress, o.Now), log: o.Logger, refreshed: o.Refreshed, skipped: o.Skipped,
		ctx: ctx, absent: make(map[absent]time.Time)}
	s.lease.Start(func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer != nil {
			s.timer.Stop()
		}
	})
	return s
}

// find returns the keys for kid, of which one may have signed. The error is a *Refused when the
// issuer's keys are known and this is none of them, and wraps ErrUnavailable when they are not
// known. from says which address it is for, as block has it, where that matters. from is a
// function, since most calls do not need the address.
func (s *keySet) find(ctx context.Context, kid string, a jws.Algorithm, from func() netip.Addr) ([]*jws.Key, error) {
	s.touch()
	// A fetch that began before this moment may have been answered before the key was published.
	start := s.source.now()
	known, err := s.usable(ctx)
	if err != nil {
		return nil, err
	}
	found, err := known.find(kid, a)
	if err == nil || !isUnknown(err) {
		return found, err
	}
	// Two rounds: the first may only join a routine fetch that was answered before
	// the key was published.
	for range 2 {
		if !known.asked.Before(start) {
			return nil, err // asked for this very token: it is really not there
		}
		if wait := s.ask(absent{kid, from()}); wait != nil {
			if waitErr := await(ctx, wait); waitErr != nil {
				return nil, waitErr
			}
		} else if known == s.current.Load() {
			return nil, err // else what another token asked for came in the meantime
		}
		known = s.current.Load()
		if found, err = known.find(kid, a); err == nil || !isUnknown(err) {
			return found, err
		}
	}
	return nil, err
}

// known returns the keys for kid like find, but does not ask the issuer for one that it is not
// known to have.
// It is for tokens that were verified before: a key that is gone is gone.
func (s *keySet) known(ctx context.Context, kid string, a jws.Algorithm) ([]*jws.Key, error) {
	s.touch()
	known, err := s.usable(ctx)
	if err != nil {
		return nil, err
	}
	return known.find(kid, a)
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
	if now := s.source.now(); known != nil && !now.Before(known.asked) && now.Before(known.fresh) {
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
		return nil, fmt.Errorf("%w: issuer %s: %w", authn.ErrUnavailable, s.source.issuer, s.cause())
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
// The error wraps authn.ErrUnavailable: the caller has left, or its time is over.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", authn.ErrUnavailable, context.Cause(ctx))
	}
}

// isUnknown tells the one refusal that a refresh may cure from the others.
func isUnknown(err error) bool {
	r, ok := err.(*authn.Refused) //nolint:errorlint // made one call away, never wrapped
	return ok && r.Fault == faultUnknownKey
}
