package overload

import (
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"sync/atomic"
)

// shares divide what can be done among callers, so that each has a fair share. Each has calls
// counted in a cell of every row, which others may share, in each row others; what is known of a
// caller is what the cell with the fewest calls says (a count-min sketch). each is how many calls a
// second anybody may make: who makes fewer is not refused, and of who makes more, those above are,
// by lot. So it is the one number to turn, and what it takes, it takes from the greediest first.
type shares struct {
	counting atomic.Bool // calls are counted, as the rung stands or may soon
	refused  atomic.Int64
	rows     [rows]row
	each     float64 // written by settle, and used by whoever measures alone
}

// Two callers cannot be told apart who share a cell in every row: one pair in a million.
const (
	rows     = 2
	cells    = 1 << cellBits
	cellBits = 10
)

// seed keeps callers from choosing whose cell they share.
var seed = maphash.MakeSeed()

// certain is a probability of 1.
const certain = 1 << 16

// row is everybody, in cells.
type row [cells]cell

// cell is the callers whose names fall on it. Each has a cache line of its own: processors that count
// for different callers do not wait for each other.
type cell struct {
	calls atomic.Uint32 // since they were looked at last
	admit atomic.Uint32 // of certain; 0 for what has not been looked at
	rate  float64       // calls a second, of late; used by settle alone
	_     [48]byte      // one line of a processor's cache each
}

// places are where a caller's cells are, one in each row.
func places(caller string) (at [rows]uint64) {
	hash := maphash.String(seed, caller)
	for i := range at {
		at[i] = hash % cells
		hash >>= cellBits
	}
	return at
}

// admits counts a call and casts the lot for it, which is the cell's that refuses least.
func (s *shares) admits(caller string) bool {
	p := uint32(0)
	for row, at := range places(caller) {
		c := &s.rows[row][at]
		c.calls.Add(1)
		if q := c.admit.Load(); q != 0 {
			p = max(p, q)
		} else {
			p = certain
		}
	}
	return p >= certain || rand.Uint32N(certain) < p //nolint:gosec // a lot, not a secret
}

// latest is the weight of the last span in a caller's rate.
const latest = 0.4

// look takes the calls of the last span, of which there are perSecond, into the rates. It
// returns the highest one, all together, and how many calls there were.
func (s *shares) look(perSecond float64) (highest, all float64, calls int64) {
	for i := range s.rows {
		var most float64 // of which one caller has all, where nobody shares its cell
		most, all, calls = s.rows[i].look(perSecond)
		if i == 0 || most < highest {
			highest = most
		}
	}
	return highest, all, calls
}

// look is that of one row.
func (r *row) look(perSecond float64) (highest, all float64, calls int64) {
	for i := range r {
		c := &r[i]
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

// under is how many calls a second there would be with each as the share. Callers who
// share a cell have less in their row than they are let in.
func (s *shares) under(each float64) (admitted float64) {
	for i := range s.rows {
		in := 0.0
		for j := range s.rows[i] {
			in += min(s.rows[i][j].rate, each)
		}
		admitted = max(admitted, in)
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
	for c := range s.all() {
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
	for c := range s.all() {
		c.calls.Store(0)
		c.admit.Store(0)
		c.rate = 0
	}
}

// all yields the cells of all rows.
func (s *shares) all() iter.Seq[*cell] {
	return func(yield func(*cell) bool) {
		for i := range s.rows {
			for j := range s.rows[i] {
				if !yield(&s.rows[i][j]) {
					return
				}
			}
		}
	}
}
