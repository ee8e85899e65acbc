package push

import (
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

// origin is what a target is known by: scheme and authority, without the scheme's own
// port (RFC 6454 §6.2).
func origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host
}

// targets keep what is sent to each target within bounds.
type targets struct {
	mu    sync.Mutex
	all   map[string]*target
	swept time.Time
}

// target is what a gateway knows of one origin.
type target struct {
	inFlight int
	next     time.Time     // of rate: the arrival that is due next (GCRA)
	promised time.Time     // until when those who were sent away have been given a time
	pace     time.Duration // about how far apart deliveries can be
	failures int           // in a row
	until    time.Time     // no request before, where failures are many
	probing  bool          // the one that is under way is to find out
	used     time.Time
}

// enter asks to send something to a target. If that may not be now, it says when to come
// back, at a pace that the target can keep.
func (ts *targets) enter(name string, now time.Time, limit PerTarget, timeout time.Duration) (later time.Time, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.find(name, now)
	t.used = now
	gap := time.Second / time.Duration(limit.Rate)
	switch {
	case t.failures >= breakerFailures && (now.Before(t.until) || t.inFlight > 0):
		return t.promise(latest(now, t.until), gap), false
	case t.inFlight >= limit.InFlight:
		// The pace is a guess, which must not hold for long.
		return earliest(t.promise(now, max(gap, t.pace)), now.Add(busyLongest)), false
	case t.next.Sub(now) > time.Second-gap: // a second's worth may come at once
		return t.promise(now, gap), false
	}
	t.next = latest(now, t.next).Add(gap)
	t.inFlight++
	if t.failures >= breakerFailures {
		t.until, t.probing = now.Add(timeout), true
	}
	return time.Time{}, true
}

// promise gives those who are sent away times one after the other. They come back at
// the pace at which they can be sent, instead of all at once to be sent away again.
func (t *target) promise(from time.Time, gap time.Duration) time.Time {
	t.promised = earliest(latest(from, t.promised).Add(gap), from.Add(promiseLongest))
	return t.promised
}

// verdict is what a delivery says of its target.
type verdict int

const (
	silent verdict = iota // nothing: it was not asked
	well
	unwell
)

// leave ends what enter has begun.
func (ts *targets) leave(name string, now time.Time, took time.Duration, v verdict, limit PerTarget) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.find(name, now)
	t.inFlight = max(t.inFlight-1, 0)
	probe := t.probing
	t.probing = false // no other was let in
	switch {
	case v == silent:
		return
	case v == well:
		if t.failures >= breakerFailures {
			t.promised = now // those who wait for the end of an outage need not
		}
		t.failures = 0
	case t.failures >= breakerFailures && !probe:
		// It was under way when the target was given up. How many there were says nothing
		// of how long the target will be away.
	default:
		t.failures++
		if over := t.failures - breakerFailures; over >= 0 {
			t.until = now.Add(min(breakerFirst<<min(over, 20), breakerLongest))
		}
	}
	t.pace = took / time.Duration(limit.InFlight)
}

// open reports whether a target is out of order.
func (ts *targets) open(name string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.all[name]
	return t != nil && t.failures >= breakerFailures
}

func (ts *targets) find(name string, now time.Time) *target {
	if t := ts.all[name]; t != nil {
		return t
	}
	if len(ts.all) >= manyTargets && now.Sub(ts.swept) > sweepTargets {
		ts.swept = now
		for other, t := range ts.all {
			if t.inFlight == 0 && now.Sub(t.used) > forgetTarget {
				delete(ts.all, other)
			}
		}
	}
	if ts.all == nil {
		ts.all = map[string]*target{}
	}
	t := &target{}
	ts.all[name] = t
	return t
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
