package push

import (
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A target that has failed this often in a row is left alone for a while, which doubles
// with every further failure.
const (
	breakerFailures = 5
	breakerFirst    = time.Second
	breakerLongest  = 5 * time.Minute
)

// How long those wait at most who are sent away from a target that is busy, and from one
// that is out of order or has had its rate.
const (
	busyLongest    = time.Minute
	promiseLongest = time.Hour
)

// Targets that nobody sends to are forgotten after a while, when there are many.
const (
	manyTargets  = 1024
	forgetTarget = 2 * breakerLongest
	sweepTargets = time.Minute
)

// sharedFor is how long a target is shared once more than one owner has sent to it.
const sharedFor = 10 * time.Minute

// origin is what a target is known by: scheme and authority, without the scheme's own
// port (RFC 6454 §6.2).
func origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host
}

// visit is where a delivery goes, and whose it is.
type visit struct{ target, owner string }

// limits are what bounds deliveries that are under way.
type limits struct {
	all int // of all targets
	PerTarget
}

// targets keep what is sent to each target within bounds, and share the places that there
// are among owners: somebody whose webhooks are slow waits for them, and nobody else does.
//
// It is in memory, and each gateway counts by itself: limits toward targets are a courtesy and
// not a guarantee.
type targets struct {
	mu       sync.Mutex
	inFlight int
	all      map[string]*target
	owners   map[string]*share // of all places
	known    int               // targets, and shares of them
	swept    time.Time
}

// target is what a gateway knows of one origin.
type target struct {
	inFlight int
	next     time.Time         // of rate: the arrival that is due next (GCRA)
	shares   map[string]*share // by owner
	latest   string            // owner who came last
	mixed    time.Time         // when somebody else than the one before came
}

// share is what one owner has of some places. What fails is the owner's affair as well:
// at a host that many use, one path says nothing of another's.
type share struct {
	inFlight int
	promised time.Time     // until when those who were sent away have been given a time
	pace     time.Duration // about how far apart deliveries can be
	failures int           // in a row
	until    time.Time     // no request before, where failures are many
	probing  bool          // the one that is under way is to find out
	used     time.Time
}

// enter asks to send something to a target. If that may not be now, it says when to come
// back, at a pace that the target can keep.
//
// An owner may have as many deliveries under way as there are places left for others, so
// that there is always one for somebody who comes anew; of one target's, which are few,
// all, unless somebody else has come to it of late.
//
// The rate is kept by GCRA (next is the theoretical arrival time), which needs one time per
// target instead of a bucket.
func (ts *targets) enter(v visit, now time.Time, limit limits, timeout time.Duration) (later time.Time, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.find(v, now)
	own, all := t.shares[v.owner], ts.owners[v.owner]
	own.used, all.used = now, now
	if t.latest != v.owner {
		if t.latest != "" {
			t.mixed = now
		}
		t.latest = v.owner
	}
	gap := time.Second / time.Duration(limit.Rate)
	most := limit.InFlight
	if !t.mixed.IsZero() && now.Sub(t.mixed) < sharedFor {
		most = limit.InFlight - t.inFlight
	}
	switch {
	case own.failures >= breakerFailures && (now.Before(own.until) || own.inFlight > 0):
		return own.promise(latest(now, own.until), gap), false
	case all.inFlight >= limit.all-ts.inFlight:
		return earliest(all.promise(now, max(gap, all.pace)), now.Add(busyLongest)), false
	case t.inFlight >= limit.InFlight, own.inFlight >= most:
		// The pace is a guess, which must not hold for long.
		return earliest(own.promise(now, max(gap, own.pace)), now.Add(busyLongest)), false
	case t.next.Sub(now) > time.Second-gap: // a second's worth may come at once
		return own.promise(now, gap), false
	}
	t.next = latest(now, t.next).Add(gap)
	for _, n := range []*int{&ts.inFlight, &t.inFlight, &own.inFlight, &all.inFlight} {
		*n++
	}
	if own.failures >= breakerFailures {
		own.until, own.probing = now.Add(timeout), true
	}
	return time.Time{}, true
}

// promise gives those who are sent away times one after the other. They come back at
// the pace at which they can be sent, instead of all at once to be sent away again.
func (s *share) promise(from time.Time, gap time.Duration) time.Time {
	s.promised = earliest(latest(from, s.promised).Add(gap), from.Add(promiseLongest))
	return s.promised
}

// verdict is what a delivery says of its target.
type verdict int

const (
	silent verdict = iota // nothing: it was not asked
	well
	unwell
)

// leave ends what enter has begun.
//
// The pace is how long this delivery took, divided by how many may be under way: what the next
// one who is sent away has to wait, about.
func (ts *targets) leave(v visit, now time.Time, took time.Duration, said verdict, limit limits) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.find(v, now)
	own, all := t.shares[v.owner], ts.owners[v.owner]
	for _, n := range []*int{&ts.inFlight, &t.inFlight, &own.inFlight, &all.inFlight} {
		*n = max(*n-1, 0)
	}
	probe := own.probing
	own.probing = false // no other was let in
	switch {
	case said == silent:
		return
	case said == well:
		if own.failures >= breakerFailures {
			own.promised = now // those who wait for the end of an outage need not
		}
		own.failures = 0
	case own.failures >= breakerFailures && !probe:
		// It was under way when the target was given up. How many there were says nothing
		// of how long the target will be away.
	default:
		own.failures++
		if over := own.failures - breakerFailures; over >= 0 {
			own.until = now.Add(min(breakerFirst<<min(over, 20), breakerLongest))
		}
	}
	own.pace = took / time.Duration(limit.InFlight)
	all.pace = took / time.Duration(max(limit.all/2, 1))
}

// open reports whether a target is out of order for an owner.
func (ts *targets) open(v visit) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.all[v.target]
	return t != nil && t.shares[v.owner] != nil && t.shares[v.owner].failures >= breakerFailures
}

// find is a target with the owner's share of it, and of all.
//
// It makes what is not there, and sweeps now and then. The lock is held.
func (ts *targets) find(v visit, now time.Time) *target {
	if ts.known >= manyTargets && now.Sub(ts.swept) > sweepTargets {
		ts.swept = now
		ts.sweep(now)
	}
	if ts.all == nil {
		ts.all, ts.owners = map[string]*target{}, map[string]*share{}
	}
	if ts.owners[v.owner] == nil {
		ts.owners[v.owner] = &share{used: now}
	}
	t := ts.all[v.target]
	if t == nil {
		t = &target{shares: map[string]*share{}}
		ts.all[v.target] = t
		ts.known++
	}
	if t.shares[v.owner] == nil {
		t.shares[v.owner] = &share{used: now}
		ts.known++
	}
	return t
}

// sweep forgets whom nobody sends to, and who sends to nobody.
func (ts *targets) sweep(now time.Time) {
	over := func(_ string, s *share) bool { return s.inFlight == 0 && now.Sub(s.used) > forgetTarget }
	maps.DeleteFunc(ts.owners, over)
	ts.known = 0
	for name, t := range ts.all {
		maps.DeleteFunc(t.shares, over)
		if len(t.shares) == 0 {
			delete(ts.all, name)
			continue
		}
		ts.known += 1 + len(t.shares)
	}
}

// earliest is the earlier of two times.
func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// latest is the later of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
