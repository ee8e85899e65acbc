package breaker

import (
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"sync"
	"time"
)

// Failures in a row, after which a service is left alone for First, twice as long with
// every further failure, and at most for Longest.
const (
	Failures = 5
	First    = time.Second
	Longest  = 30 * time.Second
)

// How long an answer shows that the service is at work, and how long a caller that it has
// refused counts as such.
const (
	workFor    = 10 * time.Second
	refusedFor = time.Hour
)

// manyCallers is how many callers are told apart at most.
const manyCallers = 10_000

// ErrResting is not about the call: the service did not answer those before.
var ErrResting = errors.New("it has failed and is left alone for a moment")

// ErrOwn is about the caller: the service has failed at what this one asked, and it alone.
var ErrOwn = errors.New("it has failed at this caller's calls and is not asked for this one for a moment")

// Outcome is what a question showed of the service.
type Outcome uint8

const (
	Unknown Outcome = iota // nobody waited for the answer
	Alive                  // it answered
	Refused                // it answered, and that is no
	Failed                 // it had the question, and gave no answer
	Away                   // there was nobody to have it
)

// Unreached reports whether an error of a question says that there was no connection to
// put it on, which is nobody's fault who asks.
func Unreached(err error) bool {
	var (
		op          *net.OpError
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
	)
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &name) || errors.As(err, &certificate)
}

// Breaker is about one service. The zero value is ready; it is safe for concurrent use.
type Breaker struct {
	// Persist has the service asked for a caller whatever became of this one's questions before: where not
	// to ask would be to the caller's advantage. Set it before the first question.
	Persist bool

	mu       sync.Mutex
	service  count
	failed   map[string]bool // callers it has failed since it answered last
	callers  map[string]*caller
	answered time.Time
	swept    time.Time // when callers of long ago were forgotten
}

// caller is somebody whose questions the service has failed at or refused. Its own failures are
// counted beside the service's: one whose questions make it fail every time is left out, and the
// others are still served.
type caller struct {
	count

	refused time.Time // when the service last said no to it
	used    time.Time // when it last asked, to forget who does not come back
}

// Enter reports whether the service may be asked for a caller: nil, or ErrResting or
// ErrOwn. After a wait one question goes through, and the others when it was answered. What
// may be asked ends with Leave.
func (b *Breaker) Enter(now time.Time, who string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	// The service first: where it rests, nobody is told of failures of their own.
	own := b.callers[who]
	switch {
	case !b.service.ready(now):
		return ErrResting
	case own != nil && !own.ready(now) && !b.Persist:
		return ErrOwn
	}
	b.service.enter()
	if own != nil {
		own.enter()
	}
	return nil
}

// Leave takes over what became of a question that entered. turned says that the service
// is given up with it (Failed, Away), or back.
func (b *Breaker) Leave(now time.Time, who string, o Outcome) (turned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probe, probed := b.service.leave(), false
	if own := b.callers[who]; own != nil {
		probed = own.leave()
	}
	switch o {
	case Alive, Refused:
		turned = b.service.open()
		b.service, b.failed, b.answered = count{}, nil, now
		if own := b.callers[who]; own != nil {
			own.count = count{}
		}
		if o == Refused {
			b.know(now, who).refused = now
		}
	case Failed:
		b.know(now, who).fail(now, probed)
		if b.failed == nil {
			b.failed = map[string]bool{}
		}
		if probe || !b.failed[who] {
			turned = b.service.fail(now, probe)
		}
		if len(b.failed) < Failures {
			b.failed[who] = true
		}
	case Away:
		turned = b.service.fail(now, probe)
	case Unknown:
	}
	return turned
}

// Own reports whether what failed for a caller is that caller's affair: the service is at
// work, as it has answered just now, or it has refused this one before.
func (b *Breaker) Own(now time.Time, who string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.callers[who]
	return !b.service.open() && (!b.answered.IsZero() && now.Sub(b.answered) < workFor ||
		own != nil && !own.refused.IsZero() && now.Sub(own.refused) < refusedFor)
}

// know finds or makes what is known of a caller, and makes room for it.
func (b *Breaker) know(now time.Time, who string) *caller {
	c := b.callers[who]
	if c == nil {
		if len(b.callers) >= manyCallers && now.Sub(b.swept) > time.Minute {
			b.swept = now
			maps.DeleteFunc(b.callers, func(_ string, c *caller) bool { return now.Sub(c.used) > refusedFor })
		}
		for other := range b.callers {
			if len(b.callers) < manyCallers {
				break
			}
			delete(b.callers, other)
		}
		if b.callers == nil {
			b.callers = map[string]*caller{}
		}
		c = new(caller)
		b.callers[who] = c
	}
	c.used = now
	return c
}

// count is of failures in a row.
type count struct {
	failures int
	until    time.Time // while they are too many: when it may be asked again
	probing  bool      // somebody is asking whether it is back
}

func (c *count) open() bool { return c.failures >= Failures }

func (c *count) ready(now time.Time) bool { return !c.open() || !c.probing && !now.Before(c.until) }

func (c *count) enter() { c.probing = c.open() }

func (c *count) leave() (probe bool) {
	probe, c.probing = c.probing, false
	return probe
}

// fail counts one more. One that was asked before it was given up does not make that
// longer: a hundred of those are one outage.
func (c *count) fail(now time.Time, probe bool) (opened bool) {
	if c.open() && !probe {
		return false
	}
	c.failures++
	if over := c.failures - Failures; over >= 0 {
		c.until = now.Add(min(First<<min(over, 10), Longest))
	}
	return c.failures == Failures
}
