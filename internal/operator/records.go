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
	source   reader.Source
	interval time.Duration // of checkpoints
	keys     *keys.Ring
	turn     chan *index.Index // holds one, which is for one at a time; nil until it is open
}

func NewRecords(c audit.Config, ring *keys.Ring) *Records {
	r := &Records{source: c.Source(), interval: c.Checkpoint.Interval.Std(), keys: ring, turn: make(chan *index.Index, 1)}
	r.turn <- nil
	return r
}

// Find implements records.Records.
func (r *Records) Find(ctx context.Context, q index.Query) ([]reader.Entry, error) {
	var i *index.Index
	select {
	case i = <-r.turn:
		defer func() { r.turn <- i }()
	case <-ctx.Done():
		return nil, late(ctx.Err())
	}
	var err error
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
		e.Line = slices.Clone(e.Line)
		list = append(list, e)
	}
	return list, nil
}

// All implements records.Records.
func (r *Records) All(ctx context.Context, q index.Query) iter.Seq2[reader.Entry, error] {
	return index.Scan(ctx, r.source, q)
}

// Live implements records.Records.
func (r *Records) Live(ctx context.Context) (uint64, iter.Seq2[reader.Entry, error], error) {
	end, err := r.source.End()
	if err != nil {
		return 0, nil, fmt.Errorf("read the audit log: %w", err)
	}
	return end.Seq, r.source.Follow(ctx, end), nil
}

// Verify implements records.Records.
func (r *Records) Verify(ctx context.Context, from, to time.Time) (*audit.Report, error) {
	report, err := audit.Verify(ctx, r.source, audit.Check{
		Keys: r.keys.JWKS(), Sealer: r.keys, Interval: r.interval, From: from, To: to,
	})
	if err == nil {
		err = ctx.Err()
	}
	return report, late(err)
}

// late tells that the time was over from other errors.
func late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return records.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	return nil
}

// Close waits for whoever reads.
func (r *Records) Close() error {
	if r == nil {
		return nil
	}
	if i := <-r.turn; i != nil {
		return i.Close()
	}
	return nil
}
