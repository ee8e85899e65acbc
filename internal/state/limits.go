package state

import (
	"context"
	"errors"
	"math/bits"
	"time"
)

// DrawKind says how a Draw is counted.
type DrawKind uint8

// The kinds of a Draw.
const (
	// Rate is a token bucket (GCRA): of Limit units at most, Refill of which come back in
	// every Period, evenly. A new one is full.
	Rate DrawKind = iota + 1
	// Quota is a count of at most Limit until Until. A Draw with a later Until begins
	// anew; one with an earlier Until, as clocks differ, counts in the later span. The
	// store's own clock decides neither: it keeps the count for an hour beyond Until.
	Quota
	// Hold is a place of Limit, held by Holder until released, or until TTL has passed
	// since the last Draw of the same holder. Drawing a place that one holds already
	// costs nothing and always succeeds, so that a Limit of 0 renews but never takes.
	Hold
)

// Draw is one limit that a call draws on.
//
// A bucket belongs to its Key alone. Where Limit, Refill or Period differ from those of
// an earlier Draw, what was used stays used as far as the new Limit has it; who holds
// places keeps them. A Draw of another Kind begins anew.
type Draw struct {
	Key    string // of the bucket: which limit, and of whom; any bytes, 1 to 1,024
	Kind   DrawKind
	Limit  int64
	Cost   int64         // Rate and Quota: units, at least 1. More than Limit never succeeds.
	Refill int64         // Rate: at least 1
	Period time.Duration // Rate: at least 1. All of Limit comes back within a hundred years.
	Until  time.Time     // Quota
	Holder string        // Hold: any bytes, 1 to 1,024
	TTL    time.Duration // Hold: at least 1

	// Soft draws keep no other from being taken when they have not enough, and are taken
	// when the others are.
	Soft bool
}

// Drawn is where a bucket stands after a Draw.
type Drawn struct {
	OK    bool          // this one had enough; all that are not Soft have to
	Left  int64         // units or places
	Wait  time.Duration // until the same would succeed, 0 when OK or when nobody can say (Hold, more than Limit)
	Reset time.Duration // until all of Limit is there again; 0 for a Hold
}

// Limits counts what callers use. Every driver passes the suite in statetest.
type Limits interface {
	// Draw takes from all buckets or, when one that is not Soft has not enough, from
	// none; the answers are in the order of the draws. No two of the draws have the
	// same Key, Holds the same Key and Holder. It is one round trip and atomic: of
	// callers who come at the same moment no more succeed than there is room for. With
	// an error nothing was taken; what Draw.Check refuses is one. Neither draws nor its
	// strings are kept.
	Draw(ctx context.Context, draws []Draw) ([]Drawn, error)

	// Release gives places back (Key and Holder count), all at one moment. Places that
	// are not held are ignored.
	Release(ctx context.Context, holds []Draw) error
}

const (
	maxName = 1 << 10 // of a key or holder
	// maxUnits lets drivers count in floating point numbers, as Lua does.
	maxUnits = 1 << 50
	century  = 100 * 365 * 24 * time.Hour
)

// Check reports a Draw that means nothing, for drivers.
func (d *Draw) Check() error {
	if d.Key == "" || len(d.Key) > maxName {
		return errors.New("state: a draw's key has 1 to 1,024 bytes")
	}
	if d.Limit < 0 || d.Limit > maxUnits {
		return errors.New("state: a draw's limit is out of range")
	}
	switch d.Kind {
	case Rate:
		return d.checkRate()
	case Quota:
		return d.checkCost()
	case Hold:
		if d.Holder == "" || len(d.Holder) > maxName {
			return errors.New("state: a draw's holder has 1 to 1,024 bytes")
		}
		if d.TTL < 1 || d.TTL > century {
			return errors.New("state: a draw's TTL is out of range")
		}
		return nil
	}
	return errors.New("state: a draw has no such kind")
}

// checkCost reports a cost that could overflow what it is added to.
func (d *Draw) checkCost() error {
	if d.Cost < 1 || d.Cost > maxUnits {
		return errors.New("state: a draw's cost is out of range")
	}
	return nil
}

// checkRate reports a rate whose full bucket would take longer to fill than a duration can say.
func (d *Draw) checkRate() error {
	if d.Refill < 1 || d.Refill > maxUnits || d.Period < 1 || d.Period > century {
		return errors.New("state: a draw's refill or period is out of range")
	}
	hi, lo := bits.Mul64(uint64(d.Limit), uint64(d.Period)) //nolint:gosec // as checked: above zero, below 292 years
	if hi >= uint64(d.Refill) {
		return errTooSlow
	}
	if whole, _ := bits.Div64(hi, lo, uint64(d.Refill)); whole > uint64(century) {
		return errTooSlow
	}
	return d.checkCost()
}

var errTooSlow = errors.New("state: a draw's limit takes more than a hundred years to come back")
