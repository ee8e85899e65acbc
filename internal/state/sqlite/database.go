package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// patience bounds how long a caller waits for its write, also one that nobody cancels.
const patience = 10 * time.Second

// database is the open file, which the parts of a store share: who reads it, who writes it,
// and whether it is there and takes writes.
type database struct {
	// now is the clock that expiry goes by; tests set it.
	now     func() time.Time
	place   *place
	refusal refusal
	readers *sql.DB
	writer  *writer
	closing chan struct{} // closed first: nobody's writes are taken any more
}

// open opens the connections and brings the schema up to date.
func (d *database) open(ctx context.Context, c state.SQLiteConfig) (err error) {
	if d.writer, err = newWriter(ctx, c, d.place); err != nil {
		return err
	}
	// The writer has made the journal by now, so that it can be told from another one later.
	if err := d.place.note(); err != nil {
		return err
	}
	d.readers, err = connect(c, d.place, false)
	return err
}

// close closes the connections that are open, that of the writer last.
func (d *database) close() error {
	var errs []error
	if d.readers != nil {
		errs = append(errs, d.readers.Close())
	}
	if d.writer != nil {
		errs = append(errs, d.writer.close())
	}
	return errors.Join(errs...)
}

// write hands a job to the writer and waits for its transaction. When the caller's
// context ends first, the job is done all the same, and the caller must not look at its
// results.
func (d *database) write(ctx context.Context, run func() error) error {
	return d.bring(ctx, &job{run: run})
}

// writeApart is write for a job of which each statement may be kept without the others. Where no
// other job comes with it, it is spared the statements around a transaction.
func (d *database) writeApart(ctx context.Context, run func() error) error {
	return d.bring(ctx, &job{run: run, apart: true})
}

func (d *database) bring(ctx context.Context, j *job) error {
	// The writer may still run for the keeper when callers are turned away.
	select {
	case <-d.closing:
		return ErrClosed
	default:
		return d.heard(d.writer.do(ctx, j))
	}
}

// hand is write for the keeper, which goes on while others are turned away.
func (d *database) hand(run func() error) error {
	return d.heard(d.writer.do(context.Background(), &job{run: run}))
}

// heard takes over what became of a write, and looks for the end where it was refused.
func (d *database) heard(err error) error {
	err = d.refusal.named(err)
	if err == nil || !errors.Is(err, state.ErrUnavailable) || d.place.lost.Load() != nil ||
		!d.refusal.why.CompareAndSwap(nil, &err) {
		return err
	}
	d.refusal.wrote.Store(0)
	d.refusal.told(err)
	return err
}

// Away implements state.Distant: no records are taken while the file is not where it was, or
// refuses writes.
func (d *database) Away(string) error {
	if lost := d.place.lost.Load(); lost != nil {
		return *lost
	}
	return d.refusal.away()
}

// Ping implements state.Store: it writes, unless it is known that this does not work.
func (d *database) Ping(ctx context.Context) error {
	if err := d.refusal.away(); err != nil {
		return err
	}
	return d.touch(ctx)
}

// Ready implements state.Distant.
func (d *database) Ready(ctx context.Context, agent string) error {
	if err := d.Away(agent); err != nil {
		return err
	}
	// A busy gateway asks before each call; one write a millisecond answers for all of them.
	if time.Now().UnixNano()-d.refusal.wrote.Load() < int64(state.Proven) {
		return nil
	}
	return d.touch(ctx)
}

// touch writes what was there before, and takes note that this works.
func (d *database) touch(ctx context.Context) error {
	// The moment before the write counts: Ready promises that a write worked since then.
	start := time.Now().UnixNano()
	err := d.write(ctx, func() error {
		_, err := d.writer.touch.Exec()
		return err
	})
	if err == nil {
		d.refusal.wrote.Store(start)
	}
	return err
}
