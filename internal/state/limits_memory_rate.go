package state

import (
	"math/bits"
	"time"
)

// rate is the arithmetic of rate limits: a token bucket, counted as GCRA without rounding. The
// bucket is full from the moment at+part/of on, in nanoseconds since the driver began; each unit
// that is taken moves it by Period/Refill.
type rate struct{ at, part, of uint64 }

func (r *rate) kind() DrawKind { return Rate }

func (r *rate) idle(now moment) bool { return r.at < now.since }

// span is a length of time: ns nanoseconds and part of one, in as many parts as the
// Refill of a Draw. It is never negative.
type span struct{ ns, part uint64 }

// spanOf is how long n units take to come back. What Check accepts does not overflow.
func spanOf(n int64, d *Draw) span {
	hi, lo := bits.Mul64(uint64(n), uint64(d.Period)) //nolint:gosec // as checked: above zero, below 292 years
	ns, part := bits.Div64(hi, lo, uint64(d.Refill))  //nolint:gosec // as checked: above zero, below 292 years
	return span{ns, part}
}

func (s span) plus(t span, of uint64) span {
	sum := span{s.ns + t.ns, s.part + t.part}
	if sum.part >= of {
		sum.ns, sum.part = sum.ns+1, sum.part-of
	}
	return sum
}

// minus takes off a t that is not longer than s.
func (s span) minus(t span, of uint64) span {
	if s.part < t.part {
		return span{s.ns - t.ns - 1, s.part + of - t.part}
	}
	return span{s.ns - t.ns, s.part - t.part}
}

func (s span) longer(t span) bool { return s.ns > t.ns || s.ns == t.ns && s.part > t.part }

// up rounds to whole nanoseconds.
func (s span) up() time.Duration {
	if s.part > 0 {
		s.ns++
	}
	return time.Duration(s.ns) //nolint:gosec // as checked: above zero, below 292 years
}

// debt is how long the bucket takes to be full: with another Limit than before no more
// than all of that.
func (r *rate) debt(d *Draw, now moment) span {
	at := span{r.at, r.part}
	if r.of != uint64(d.Refill) { //nolint:gosec // as checked: above zero, below 292 years
		at = span{uint64(at.up()), 0} //nolint:gosec // as checked: above zero, below 292 years
	}
	if at.ns < now.since {
		return span{}
	}
	debt, most := span{at.ns - now.since, at.part}, spanOf(d.Limit, d)
	if debt.longer(most) {
		return most
	}
	return debt
}

func (r *rate) reserve(d *Draw, got *Drawn, now moment) error {
	if d.Cost > d.Limit {
		return nil
	}
	of, most := uint64(d.Refill), spanOf(d.Limit, d) //nolint:gosec // as checked: above zero, below 292 years
	after := r.debt(d, now).plus(spanOf(d.Cost, d), of)
	if got.OK = !after.longer(most); !got.OK {
		got.Wait = after.minus(most, of).up()
	}
	return nil
}

func (r *rate) settle(d *Draw, now moment, take bool) {
	if !take {
		return
	}
	of := uint64(d.Refill) //nolint:gosec // as checked: above zero, below 292 years
	after := r.debt(d, now).plus(spanOf(d.Cost, d), of)
	r.at, r.part, r.of = now.since+after.ns, after.part, of
}

func (r *rate) stand(d *Draw, now moment) (int64, time.Duration) {
	of, debt := uint64(d.Refill), r.debt(d, now) //nolint:gosec // as checked: above zero, below 292 years
	rest := spanOf(d.Limit, d).minus(debt, of)
	hi, lo := bits.Mul64(rest.ns, of)
	lo, carry := bits.Add64(lo, rest.part, 0)
	left, _ := bits.Div64(hi+carry, lo, uint64(d.Period)) //nolint:gosec // at most Limit
	return int64(left), debt.up()                         //nolint:gosec // as checked: above zero, below 292 years
}
