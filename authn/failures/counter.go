// Package failures limits the rate of refused credentials by client address, which is what stops
// brute force and credential stuffing. Every credential
// that is turned down takes one from the token bucket of the address that presented it; when
// the bucket is empty the address is answered 429 (RFC 6585 §4) until it has filled again.
//
// Package authn charges a bucket when a scheme has refused a credential. A scheme that has to
// ask an issuer about a token (RFC 7662) charges it before it asks, and refunds what turned out
// to be good, as the question itself is what an attacker would have the gateway ask.
package failures

import (
	"container/list"
	"errors"
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Config is authn.failures: how many refused credentials one client address may present before
// the gateway answers it with 429. Good credentials from the same address still pass, except
// opaque tokens that the gateway has not asked the issuer about recently. While it answers an
// address with 429, it asks no issuer for it. IPv6 addresses count by their /64, which is what
// one client has.
type Config struct {
	// PerMinute is how many more refused credentials an address may present each minute. Default:
	// 60. Negative: no limit.
	PerMinute int `yaml:"perMinute,omitempty"`
	// Burst is how many refused credentials may come at once. Default: 30.
	Burst int `yaml:"burst,omitempty"`
}

// Defaults and bounds of Config.
const (
	defaultPerMinute = 60
	defaultBurst     = 30
	maxFailures      = 1_000_000
	failureShards    = 32
	// failuresEach times failureShards is 65,536 addresses, about 12 MiB.
	failuresEach = 2048
)

// ErrThrottled says that a client address has presented too many credentials that were
// turned down; 429.
var ErrThrottled = errors.New("too many refused credentials (authn.failures)")

// Throttled is ErrThrottled with the time to wait.
type Throttled struct {
	After time.Duration
	Err   error // why the latest credential was refused, for the log
}

// Error is for the log.
func (t *Throttled) Error() string { return ErrThrottled.Error() + ": " + t.Err.Error() }

// Is makes errors.Is(err, ErrThrottled) true. The refusal behind it must not be found
// by errors.As: the caller is not to hear it.
func (t *Throttled) Is(target error) bool { return target == ErrThrottled }

// Validate returns an error for each number out of bounds, with its key.
func (f Config) Validate() error {
	var errs []error
	if f.PerMinute > maxFailures {
		errs = append(errs, keypath.At(fmt.Errorf("%d is more than %d", f.PerMinute, maxFailures), "authn", "failures", "perMinute"))
	}
	if f.Burst < 0 || f.Burst > maxFailures {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between 1 and %d", f.Burst, maxFailures), "authn", "failures", "burst"))
	}
	return errors.Join(errs...)
}

// Counter counts refused credentials by client address, a token bucket each. What an
// address has used up is kept as the time at which its bucket will be full again.
type Counter struct {
	every  time.Duration // one more is let through
	burst  time.Duration // every, times the size of the bucket
	seed   maphash.Seed
	shards [failureShards]blameShard
}

type blameShard struct {
	mu    sync.Mutex
	known map[netip.Addr]*list.Element
	order list.List // of *blamed, the latest refused in front
	_     [64]byte  // keeps the locks of neighbours off one cache line
}

type blamed struct {
	from netip.Addr
	full time.Time
}

// New takes over what previous, the counter before a reload, has counted, unless the limits are
// others; nil when there is no limit.
func New(cfg Config, previous *Counter) *Counter {
	rate, size := cfg.PerMinute, cfg.Burst
	if rate < 0 {
		return nil
	}
	if rate == 0 {
		rate = defaultPerMinute
	}
	if size == 0 {
		size = defaultBurst
	}
	every := time.Minute / time.Duration(rate)
	b := &Counter{every: every, burst: every * time.Duration(size), seed: maphash.MakeSeed()}
	if previous != nil && previous.every == b.every && previous.burst == b.burst {
		return previous
	}
	for i := range b.shards {
		b.shards[i].known = make(map[netip.Addr]*list.Element)
	}
	return b
}

// Charge takes one from the bucket of an address. A result above zero is the time
// after which there will be one again.
func (b *Counter) Charge(from netip.Addr, now time.Time) time.Duration {
	s := &b.shards[maphash.Comparable(b.seed, from)%failureShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(from)
	full := e.full
	if full.Before(now) {
		full = now
	}
	// A clock that was set back must not hold anybody up for the difference.
	if latest := now.Add(b.burst); full.After(latest) {
		full = latest
	}
	e.full = full
	if wait := full.Add(b.every).Sub(now) - b.burst; wait > 0 {
		return wait
	}
	e.full = full.Add(b.every)
	return 0
}

// Refund gives back what was charged for a credential that was not turned down.
func (b *Counter) Refund(from netip.Addr) {
	s := &b.shards[maphash.Comparable(b.seed, from)%failureShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(from)
	e.full = e.full.Add(-b.every)
}

// find returns the entry of an address as the latest one, in place of the one that was
// refused longest ago where there is no room.
func (s *blameShard) find(from netip.Addr) *blamed {
	if at, ok := s.known[from]; ok {
		s.order.MoveToFront(at)
		e, _ := at.Value.(*blamed) // nothing else is in the list
		return e
	}
	if len(s.known) >= failuresEach {
		last := s.order.Back()
		e, _ := last.Value.(*blamed)
		delete(s.known, e.from)
		*e = blamed{from: from}
		s.order.MoveToFront(last)
		s.known[from] = last
		return e
	}
	e := &blamed{from: from}
	s.known[from] = s.order.PushFront(e)
	return e
}

// AddressBlock is what of an address one client has for itself. What is no address is counted
// together.
func AddressBlock(source string) netip.Addr {
	a, err := netip.ParseAddr(source)
	if err != nil {
		return netip.Addr{}
	}
	if a = a.Unmap().WithZone(""); a.Is4() {
		return a
	}
	p, _ := a.Prefix(64) // never fails on IPv6
	return p.Addr()
}
