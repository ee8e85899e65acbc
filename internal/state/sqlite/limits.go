package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// limits are the state.Limits of the file: counts in the process, and the rows of the table
// counts, which follow them.
type limits struct {
	db     *database
	counts *state.Counts

	put, remove *sql.Stmt // of the writer
}

// newLimits prepares the statements of the table counts and reads what an earlier process has
// left there.
func newLimits(ctx context.Context, db *database, c state.MemoryConfig) (*limits, error) {
	l := &limits{db: db, counts: state.NewCounts(c)}
	err := db.prepare(ctx, nil, statements{
		&l.put:    `REPLACE INTO counts (key, kind, until, units, parts) VALUES (?, ?, ?, ?, ?)`,
		&l.remove: `DELETE FROM counts WHERE key = ?`,
	})
	if err != nil {
		return nil, err
	}
	return l, l.load(ctx)
}

// Draw implements state.Limits. It counts in the process, which is the only one that has
// the file open, and so takes a microsecond; the file follows every second and at Close.
// A crash forgets the last second's counts, and with it all places that were held.
func (l *limits) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	return l.counts.Draw(ctx, draws)
}

// Release implements state.Limits.
func (l *limits) Release(ctx context.Context, holds []state.Draw) error {
	return l.counts.Release(ctx, holds)
}

// write writes down what has changed.
func (l *limits) write() error {
	for {
		// A batch is one transaction, so that claims that wait do not wait for all counts.
		list := l.counts.Changed(batch)
		if len(list) == 0 {
			return nil
		}
		err := l.db.hand(func() error { return l.save(list) })
		if err != nil {
			// A count that was not written is as unwritten as before, and comes with the next second.
			l.counts.Again(list)
			return err
		}
	}
}

// save writes counts in a job of the writer. Kind 0 is a bucket that stands as a new one would, of
// which the file needs to know nothing.
func (l *limits) save(list []state.Count) error {
	for _, c := range list {
		var err error
		if c.Kind == 0 {
			_, err = l.remove.Exec([]byte(c.Key))
		} else {
			_, err = l.put.Exec([]byte(c.Key), int64(c.Kind), c.Until, c.Units, c.Parts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load goes on where the last process has stopped.
func (l *limits) load(ctx context.Context) (err error) {
	// All of them, once: from then on the counts are in memory.
	rows, err := l.db.readers.QueryContext(ctx, `SELECT key, kind, until, units, parts FROM counts`)
	if err != nil {
		return err
	}
	// The connection is one of few, and the statement holds it until its rows are closed.
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var (
			c   state.Count
			key []byte
		)
		if err := rows.Scan(&key, &c.Kind, &c.Until, &c.Units, &c.Parts); err != nil {
			return err
		}
		c.Key = string(key)
		// A quota goes on where it was; a rate that has filled up meanwhile is as good as new.
		l.counts.Restore(c)
	}
	return rows.Err()
}
