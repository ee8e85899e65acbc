package operator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// Records are the audit log as the console reads it. The index is opened when somebody
// first asks: a gateway that nobody asks has no work with it.
type Records struct {
	// The segments of the log on the disk, which are read beside the writer.
	source   reader.Source
	interval time.Duration // of checkpoints
	// For the signatures of checkpoints and for sealed members of records.
	keys *keys.Ring
	turn chan *index.Index // holds one, which is for one at a time; nil until it is open
}

// NewRecords reads the log of a configuration. ring has the keys that sign checkpoints.
// Nothing is opened yet.
func NewRecords(c audit.Config, ring *keys.Ring) *Records {
	r := &Records{source: c.Source(), interval: c.Checkpoint.Interval.Std(), keys: ring, turn: make(chan *index.Index, 1)}
	r.turn <- nil
	return r
}

// Find implements records.Records. It waits until nobody else uses the index, brings it up
// to the end of the log, and gives copies of the records that are found. An error
// records.ErrBusy says that the time of ctx was over, during the wait or the search: the
// caller may ask for less.
func (r *Records) Find(ctx context.Context, q index.Query) ([]reader.Entry, error) {
	// The channel is the lock of the index: unlike with a mutex, waiting for it ends with
	// ctx, so that a request which is given up leaves no goroutine behind.
	var i *index.Index
	select {
	case i = <-r.turn:
		defer func() { r.turn <- i }()
	case <-ctx.Done():
		return nil, late(ctx.Err())
	}
	var err error
	// The first to ask opens the index. Update then adds the records that it lacks, which for a
	// log without an index are all of them and can take minutes.
	if i == nil {
		if i, err = index.Open(ctx, r.source, r.source.Secret(index.File)); err != nil {
			i = nil
			return nil, late(err)
		}
	}
	if err := i.Update(ctx, nil); err != nil {
		return nil, late(err)
	}
	var list []reader.Entry
	for e, err := range i.Find(ctx, q) {
		if err != nil {
			return nil, late(err)
		}
		// The line is in a buffer that the index uses again for the next record.
		e.Line = slices.Clone(e.Line)
		list = append(list, e)
	}
	return list, nil
}

// All implements records.Records. It reads the segments and not the index, so that an
// export of everything keeps nobody waiting who asks for a page.
func (r *Records) All(ctx context.Context, q index.Query) iter.Seq2[reader.Entry, error] {
	return index.Scan(ctx, r.source, q)
}

// Live implements records.Records. It gives the sequence number of the last record there
// is, and the records behind it as they are written; the sequence ends with ctx.
func (r *Records) Live(ctx context.Context) (uint64, iter.Seq2[reader.Entry, error], error) {
	end, err := r.source.End()
	if err != nil {
		return 0, nil, fmt.Errorf("read the audit log: %w", err)
	}
	return end.Seq, r.source.Follow(ctx, end), nil
}

// Verify implements records.Records. It checks the chain of hashes from record to record,
// and the signatures of the checkpoints between from and to (zero times: from the
// beginning, to the end). What is wrong is in the report; an error says that the log could
// not be read.
func (r *Records) Verify(ctx context.Context, from, to time.Time) (*audit.Report, error) {
	report, err := audit.Verify(ctx, r.source, audit.Check{
		Keys: r.keys.JWKS(), Sealer: r.keys, Interval: r.interval, From: from, To: to,
	})
	if err == nil {
		err = ctx.Err()
	}
	return report, late(err)
}

// late tells that the time was over from other errors. A deadline becomes records.ErrBusy,
// which is answered 503; other errors are wrapped and become a 500.
func late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return records.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	return nil
}

// Close waits for whoever reads. Whoever asks for the index afterwards waits until its
// context ends: the index is not put back. A nil *Records is that of a gateway without a
// console.
func (r *Records) Close() error {
	if r == nil {
		return nil
	}
	if i := <-r.turn; i != nil {
		return i.Close()
	}
	return nil
}
