package jwt

import (
	"net/netip"
	"time"
)

// Bounds of the fetches for unknown kids, by issuer: token buckets that are filled once
// in minInterval.
const (
	// missBurst is the size of the bucket of all. What an issuer is asked because of
	// made-up kids is no more than that at once, and again in each minInterval.
	missBurst = 8
	// missShare is the size of one address' bucket. One address cannot empty that of all,
	// and a made-up kid does not use up what the next one, which may be good, is asked for
	// with.
	missShare = 4
)

// misses are the fetches that unknown kids have caused. Every fetch brings all keys:
// while strangers keep the buckets empty, the set is never older than the time in which
// one is filled by one.
type misses struct {
	all  bucket
	from map[netip.Addr]bucket // those that are not full
}

// bucket is a token bucket, kept as the time at which it will be full again.
// No goroutine fills it: what has been refilled follows from the time.
type bucket struct{ full time.Time }

// refill is the time in which a bucket of size gets one more.
func refill(size int) time.Duration { return minInterval / time.Duration(size) }

// take takes one of size that are filled once in minInterval, unless there is none.
func (b *bucket) take(size int, now time.Time) bool {
	if b.full.Before(now) {
		b.full = now
	}
	// A clock that was set back must not hold anybody up for the difference.
	if latest := now.Add(minInterval); b.full.After(latest) {
		b.full = latest
	}
	next := b.full.Add(refill(size))
	if next.Sub(now) > minInterval {
		return false
	}
	b.full = next
	return true
}

// take takes one of all and one of the address, unless either is empty. Where clients
// are not told apart they are one address.
func (m *misses) take(from netip.Addr, now time.Time) bool {
	if !m.all.take(missBurst, now) {
		return false
	}
	for a, b := range m.from { // no more of them than were taken of all within minInterval
		if !b.full.After(now) {
			delete(m.from, a)
		}
	}
	own := m.from[from]
	ok := own.take(missShare, now)
	// What was taken of all is given back: nobody is asked for this one.
	if !ok {
		m.all.full = m.all.full.Add(-refill(missBurst))
	}
	if m.from == nil {
		m.from = make(map[netip.Addr]bucket)
	}
	m.from[from] = own
	return ok
}
