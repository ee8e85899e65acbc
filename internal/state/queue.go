package state

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
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
	Dead     bool      // it is given up, a dead letter, and waits for a person
}

// Owner is whose an item is: what stands before the first slash of its line, "" for
// nobody's. Owners share a queue: one may have as many items there as there is room left,
// half of it alone, so that there always is some for another.
func (it *Item) Owner() string {
	owner, _, found := strings.Cut(it.Line, "/")
	if !found {
		return ""
	}
	return owner
}

// Keep says what is kept of dead items.
type Keep struct {
	For  time.Duration // each
	Most int64         // of them all; 0 for no limit
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
// is, so that clocks of several gateways should agree within seconds. They are kept to
// the microsecond, see Micros. Once Push has returned an item survives whatever the
// driver survives. Every driver passes the suite in statetest.
type Queue interface {
	// Push adds an item at the end of its line. false: an item of that ID is in the queue
	// already, dead ones included, and stays as it is. ErrFull when most items wait, or when
	// as many of the item's owner do as there is room for others (see Item.Owner); 0 for no
	// limit. What Item.Check refuses is an error. Attempts, Error and Dead are ignored. It
	// keeps nothing of Data.
	Push(ctx context.Context, queue string, it Item, most int64) (bool, error)

	// Take leases at most n items that are due at now to holder until now plus lease:
	// each the first of its line that is not dead, none of a line of which an item is
	// leased. Those that are due longest come first. A lease that has ended counts as
	// none, but until somebody takes the item anew its holder may still settle it. What
	// CheckHolder refuses is an error.
	Take(ctx context.Context, queue, holder string, now time.Time, n int, lease time.Duration) ([]Item, error)

	// Done removes an item that holder has taken. ErrTaken when it is not holder's, here
	// as for Again and Bury.
	Done(ctx context.Context, queue, holder, id string) error

	// Again puts an item that holder has taken back as the first of its line, due at due,
	// with one more attempt and what that came to, as CutFailure leaves it.
	Again(ctx context.Context, queue, holder, id string, due time.Time, failure string) error

	// Bury gives up an item that holder has taken, with one more attempt; its line goes
	// on. It is forgotten keep after now: Revive and Depth do not know it from then on,
	// and Takes remove it, some at a time. Where it is one too many by the rule that Push
	// goes by, for dead items, the one of its owner goes that would be forgotten first.
	Bury(ctx context.Context, queue, holder, id, failure string, now time.Time, keep Keep) error

	// Revive makes a dead item the last of its line, due at now, as if it had never been
	// tried. false: it is not there, or not dead.
	Revive(ctx context.Context, queue, id string, now time.Time) (bool, error)

	// Remove forgets an item, whatever it is; false when there is none. Whoever holds it
	// will be told ErrTaken.
	Remove(ctx context.Context, queue, id string) (bool, error)

	// RemoveLine forgets the items of a line, dead ones included, and says how many.
	RemoveLine(ctx context.Context, queue, line string) (int, error)

	// Items lists at most limit items, by the bytes of their IDs, behind the one of ID
	// after; only dead ones, or only those that are not.
	Items(ctx context.Context, queue string, dead bool, after string, limit int) ([]Item, error)

	// Depth counts.
	Depth(ctx context.Context, queue string, now time.Time) (Depth, error)
}

const (
	maxID      = 256 // bytes of an item's ID, and of a holder
	maxFailure = 512
)

// Check reports an item that no driver takes.
func (it *Item) Check() error {
	if it.ID == "" || len(it.ID) > maxID {
		return errors.New("state: an item's ID has 1 to 256 bytes")
	}
	if it.Line == "" || len(it.Line) > maxName {
		return errors.New("state: an item's line has 1 to 1,024 bytes")
	}
	return nil
}

// CheckHolder reports a holder that no driver leases to: nobody is not one.
func CheckHolder(holder string) error {
	if holder == "" || len(holder) > maxID {
		return errors.New("state: a holder of items has 1 to 256 bytes")
	}
	return nil
}

// CutFailure is what drivers keep of what a try came to: at most 512 bytes, and no part
// of a character.
func CutFailure(s string) string {
	if len(s) <= maxFailure {
		return s
	}
	end := maxFailure
	for end > maxFailure-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// maxMicros is a whole number that a floating point number holds, as Redis has scores and
// Lua all numbers: in the year 2255.
const maxMicros = 1<<53 - 1

// Micros is how drivers keep the times of items: microseconds of Unix time, from 0, which
// is no time, to the year 2255.
func Micros(t time.Time) int64 { return min(max(t.UnixMicro(), 0), maxMicros) }

// FromMicros is the time that drivers have kept.
func FromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
