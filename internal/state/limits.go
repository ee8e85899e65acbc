package state

import (
	"context"
	"time"
)

// DrawKind says how a Draw is counted.
type DrawKind uint8

// The kinds of a Draw.
const (
	// Rate is a token bucket (GCRA): of Limit units at most, Refill of which come back in
	// every Period.
	Rate DrawKind = iota + 1
	// Quota is a count of at most Limit until Until, when it begins anew.
	Quota
	// Hold is a place of Limit, held by Holder until released, or until TTL has passed
	// since the last Draw of the same holder. Drawing a place that one holds already
	// costs nothing and always succeeds.
	Hold
)

// Draw is one limit that a call draws on.
type Draw struct {
	Key    string // of the bucket: which limit, and of whom; at most 1 KiB
	Kind   DrawKind
	Limit  int64
	Cost   int64         // Rate and Quota: units, at least 1. More than Limit never succeeds.
	Refill int64         // Rate
	Period time.Duration // Rate
	Until  time.Time     // Quota
	Holder string        // Hold
	TTL    time.Duration // Hold
}

// Drawn is where a bucket stands after a Draw.
type Drawn struct {
	OK    bool          // this one had enough; all of a Limits.Draw have to
	Left  int64         // units or places
	Wait  time.Duration // until the same would succeed, 0 when OK or when nobody can say (Hold)
	Reset time.Duration // until all of Limit is there again; 0 for a Hold
}

// Limits counts what callers use. Every driver passes the suite in statetest.
type Limits interface {
	// Draw takes from all buckets or, when one has not enough, from none; the answers
	// are in the order of the draws. It is one round trip and atomic: of callers who
	// come at the same moment no more succeed than there is room for. With an error
	// nothing was taken.
	Draw(ctx context.Context, draws []Draw) ([]Drawn, error)

	// Release gives places back (Key and Holder count). Places that are not held are
	// ignored.
	Release(ctx context.Context, holds []Draw) error
}
