package jwt

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// renew starts a fetch by age, or joins the running one; nil means that there is
// nothing to wait for. While the issuer fails nobody waits for it: known keys are
// used as they are, and callers with nothing known are told at once.
func (s *keySet) renew() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	healthy := s.failures == 0 || s.current.Load() == nil
	now := s.source.now()
	if s.flight == nil && elapsed(s.routine, now, s.pause()) {
		s.routine = now
		s.launch()
	}
	if s.flight == nil || !healthy {
		return nil
	}
	return s.flight
}

// elapsed reports whether an interval is over. One that began in the future is: the
// clock was set back, and waiting for it to catch up could take hours.
func elapsed(since, now time.Time, interval time.Duration) bool {
	d := now.Sub(since)
	return d < 0 || d >= interval
}

// pause is the least time between fetches by age. Before anything is known it
// begins at a second and doubles, so that a gateway started before its issuer
// serves soon after it.
// After five failures the pause has reached minInterval.
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
// A nil result has nothing to wait for: the kid is known to be absent, the address has used up its
// share, or the issuer is failing.
func (s *keySet) ask(what absent) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.source.now()
	if until, ok := s.absent[what]; ok && now.Before(until) {
		return nil
	}
	if s.flight == nil {
		// While the issuer fails, another question a moment later is of no use to anybody.
		if s.failures > 0 && !elapsed(s.missed, now, minInterval) || !s.misses.take(what.from, now) {
			return nil
		}
		s.missed, s.asked = now, what
		s.launch()
	}
	if s.failures > 0 {
		return nil
	}
	return s.flight
}

// note remembers a kid that the issuer, asked for it, does not publish. A full table
// forgets what has lapsed and, if that is nothing, does not grow: the buckets hold
// a flood back anyway.
func (s *keySet) note(what absent, now time.Time) {
	if len(s.absent) >= maxAbsent {
		for k, until := range s.absent {
			if !now.Before(until) {
				delete(s.absent, k)
			}
		}
	}
	if len(s.absent) < maxAbsent {
		s.absent[what] = now.Add(absentFor)
	}
}

// launch fetches in a goroutine of its own, so that a caller who hangs up does not
// end the fetch that others wait for. s.mu is held.
func (s *keySet) launch() {
	done := make(chan struct{})
	s.flight = done
	// Tokens that come from now on count for the refresh after this one.
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
	s.asked = absent{}
	s.plan()
}

// failed keeps the keys that are known: staleFor bounds how long.
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

// succeeded puts the new keys in the place of the old ones at once; a token that is being verified
// ends with those it has found.
func (s *keySet) succeeded(next *keys) {
	old := s.current.Load()
	if s.failures > 0 || old == nil {
		s.log.Info("issuer keys loaded", "issuer", s.source.issuer, "keys", len(next.list))
	}
	s.failures = 0
	s.refreshed(s.source.issuer, "ok")
	s.tellSkipped(old, next)
	s.current.Store(next)
	if s.asked.kid != "" && !next.has(s.asked.kid) {
		s.note(s.asked, s.source.now())
	}
	// Verified tokens of before are looked at again: one of them may rest on the key that is gone.
	if old != nil && old.lost(next) {
		s.log.Info("issuer keys rotated out", "issuer", s.source.issuer, "keys", len(next.list))
		s.lost.Add(1)
	}
}

// tellSkipped says which keys of a set cannot be used, once for as long as it is the same ones.
func (s *keySet) tellSkipped(old, next *keys) {
	var before []jws.Skipped
	if old != nil {
		before = old.skipped
	}
	for _, k := range jws.Newly(before, next.skipped) {
		s.log.Log(s.ctx, k.Level(), "issuer key skipped", "issuer", s.source.issuer, "reason", string(k.Reason), "err", k.String())
		s.skipped(string(k.Reason))
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
		life := known.fresh.Sub(known.asked)
		// From nine tenths of the life down to eight, at random: gateways that started together
		// part.
		wait = max(life-life/10-rand.N(life/10), minInterval) //nolint:gosec // spreads load, no secret
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
