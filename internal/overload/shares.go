package overload

import (
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
)

// shares divide what can be done among callers. Each has calls counted in a cell, which
// several may share; each is how many calls a second anybody may make: who makes fewer is
// not refused, and of who makes more, those above are, by lot. So it is the one number to
// turn, and what it takes, it takes from the greediest first.
type shares struct {
	counting atomic.Bool // calls are counted, as the rung stands or may soon
	refused  atomic.Int64
	cells    [cells]cell
	each     float64 // written by settle, and used by whoever measures alone
}

// cells is how many callers can be told apart.
const cells = 1024

// seed keeps callers from choosing whose cell they share.
var seed = maphash.MakeSeed()

// certain is a probability of 1.
const certain = 1 << 16

type cell struct {
	calls atomic.Uint32 // since they were looked at last
	admit atomic.Uint32 // of certain; 0 for what has not been looked at
	rate  float64       // calls a second, of late; used by settle alone
	_     [48]byte      // one line of a processor's cache each
}

// admits counts a call and casts the lot for it.
func (s *shares) admits(caller string) bool {
	c := &s.cells[maphash.String(seed, caller)%cells]
	c.calls.Add(1)
	p := c.admit.Load()
	return p == 0 || p >= certain || rand.Uint32N(certain) < p //nolint:gosec // a lot, not a secret
}

// latest is the weight of the last span in a caller's rate.
const latest = 0.4

// look takes the calls of the last span, of which there are perSecond, into the rates. It
// returns the highest one, all together, and how many calls there were.
func (s *shares) look(perSecond float64) (highest, all float64, calls int64) {
	for i := range s.cells {
		c := &s.cells[i]
		n := c.calls.Swap(0)
		calls += int64(n)
		c.rate += (float64(n)*perSecond - c.rate) * latest
		if c.rate < .01 {
			c.rate = 0
		}
		highest, all = max(highest, c.rate), all+c.rate
	}
	return highest, all, calls
}

// under is how many calls a second there would be with each as the share.
func (s *shares) under(each float64) (admitted float64) {
	for i := range s.cells {
		admitted += min(s.cells[i].rate, each)
	}
	return admitted
}

// fill is the share with which so many calls a second are let in, up to highest.
func (s *shares) fill(total, highest float64) (each float64) {
	low := 0.0
	for range 20 {
		if each = (low + highest) / 2; s.under(each) < total {
			low = each
		} else {
			highest = each
		}
	}
	return highest
}

// settle has each hold as the share.
func (s *shares) settle(each float64) {
	s.each = each
	for i := range s.cells {
		c := &s.cells[i]
		p := 1.0
		if c.rate > each {
			p = each / c.rate
		}
		c.admit.Store(uint32(max(1, p*certain)))
	}
}

// forget has everybody let in, and begins anew.
func (s *shares) forget() {
	s.counting.Store(false)
	for i := range s.cells {
		s.cells[i].calls.Store(0)
		s.cells[i].admit.Store(0)
		s.cells[i].rate = 0
	}
}
