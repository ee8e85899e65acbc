package state

import (
	"context"
	"errors"
	"time"
)

// Tail is what Read found of a log.
type Tail struct {
	First, Last uint64   // numbers of the oldest and the newest entry that are kept; 0 where there is no log
	From        uint64   // number of the first of Entries; 0 for none
	Entries     [][]byte // in order, without holes
}

// Bound says how much of a log is kept. All must be set.
type Bound struct {
	Entries int           // the newest so many
	Bytes   int64         // of their data; the newest entry is kept whatever its size
	TTL     time.Duration // since the latest Append; the whole log is forgotten then
}

// ErrMoved says that a log does not end where its writer thinks: somebody else has
// written to it, or it has been forgotten. Nothing was added.
var ErrMoved = errors.New("state: the log has another end")

// Logs keeps, in order, what has happened, for those who come back for it: the events
// of a task. A log is named by any bytes, 1 to 1,024. Its entries are numbered from 1,
// without holes, also when old ones are forgotten; a log that was forgotten as a whole
// begins anew. Append, Read and Drop are linearizable per log. What Bound.Check and
// CheckLog refuse is an error. Every driver passes the suite in statetest.
type Logs interface {
	// Append adds entries behind the one numbered after, 0 for a log that is not there;
	// ErrMoved where the log's end is another. Of two who append behind the same entry
	// one succeeds. It keeps nothing of entries. With none of them it only holds the log
	// to keep, whose TTL begins anew. After ErrUnavailable the entries may be there all the
	// same: whoever tries again is then told ErrMoved. ErrFull is an error too.
	Append(ctx context.Context, log string, after uint64, entries [][]byte, keep Bound) error

	// Read returns at most limit entries with numbers greater than after, the oldest
	// that are kept where those next to after are not. What a log has is read as a whole:
	// First, Last and Entries are of one moment. The entries are the caller's.
	Read(ctx context.Context, log string, after uint64, limit int) (Tail, error)

	// Drop forgets a log, also one that is not there.
	Drop(ctx context.Context, log string) error
}

// Check reports an Append that means nothing, for drivers.
func (b Bound) Check(log string) error {
	if err := CheckLog(log); err != nil {
		return err
	}
	switch {
	case b.Entries < 1 || int64(b.Entries) > maxUnits:
		return errors.New("state: a log's number of entries is out of range")
	case b.Bytes < 1 || b.Bytes > maxUnits:
		return errors.New("state: a log's number of bytes is out of range")
	case b.TTL < 1 || b.TTL > century:
		return errors.New("state: a log's TTL is out of range")
	}
	return nil
}

// CheckLog reports a name that no log has, for drivers.
func CheckLog(log string) error {
	if log == "" || len(log) > maxName {
		return errors.New("state: a log's name has 1 to 1,024 bytes")
	}
	return nil
}
