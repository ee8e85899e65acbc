package state

import (
	"context"
	"errors"
	"time"
)

// Item is one thing to do, such as a webhook to deliver.
type Item struct {
	ID       string // unique in its queue: 1 to 256 bytes
	Line     string // items of one line are done in the order in which they were pushed: 1 to 1,024 bytes
	Data     []byte
	Pushed   time.Time // by the clock of whoever pushed it
	Due      time.Time // not to be done before
	Attempts int       // how often it was tried
	Error    string    // what the latest try came to, "" before the first
	Dead     bool      // it is given up, and waits for a person
}

// Depth is how much a queue holds.
type Depth struct {
	Waiting int64     // not dead, taken ones included
	Dead    int64     // given up
	Oldest  time.Time // Pushed of the oldest that waits; zero for none
}

// ErrTaken says that an item is not, or no longer, its holder's: its lease has ended
// and somebody else has taken it, or it is gone.
var ErrTaken = errors.New("state: the item is not held")

// Queue keeps things to do until they are done: at least once, those of one line in
// order. Times are the caller's: whoever pushes, takes and puts back says what time it
// is, so that clocks of several gateways should agree within seconds. Once Push has
// returned an item survives whatever the driver survives. Every driver passes the suite
// in statetest.
type Queue interface {
	// Push adds an item at the end of its line. false: an item of that ID is in the queue
	// already, dead ones included, and stays as it is. ErrFull when most items, dead ones
	// included, are in the queue; 0 for no limit. Attempts, Error and Dead are ignored.
	Push(ctx context.Context, queue string, it Item, most int64) (bool, error)

	// Take leases at most n items that are due at now to holder until now plus lease:
	// each the first of its line that is not dead, none of a line of which an item is
	// leased. Those that are due longest come first. A lease that has ended counts as
	// none.
	Take(ctx context.Context, queue, holder string, now time.Time, n int, lease time.Duration) ([]Item, error)

	// Done removes an item that holder has taken.
	Done(ctx context.Context, queue, holder, id string) error

	// Again puts an item that holder has taken back as the first of its line, due at due,
	// with one more attempt and what that came to. Error is cut at 512 bytes.
	Again(ctx context.Context, queue, holder, id string, due time.Time, failure string) error

	// Bury gives up an item that holder has taken, with one more attempt; its line goes
	// on. It is forgotten after keep.
	Bury(ctx context.Context, queue, holder, id, failure string, now time.Time, keep time.Duration) error

	// Revive makes a dead item the last of its line, due at now, with no attempts. false:
	// it is not there, or not dead.
	Revive(ctx context.Context, queue, id string, now time.Time) (bool, error)

	// Remove forgets an item, whatever it is; false when there is none. Whoever holds it
	// will be told ErrTaken.
	Remove(ctx context.Context, queue, id string) (bool, error)

	// RemoveLine forgets the items of a line, dead ones included, and says how many.
	RemoveLine(ctx context.Context, queue, line string) (int, error)

	// Items lists at most limit items, by ID, behind the one of ID after; only dead ones,
	// or only those that are not.
	Items(ctx context.Context, queue string, dead bool, after string, limit int) ([]Item, error)

	// Depth counts.
	Depth(ctx context.Context, queue string, now time.Time) (Depth, error)
}
