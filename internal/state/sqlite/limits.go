package sqlite

import (
	"context"
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Draw implements state.Limits. It counts in the process, which is the only one that has
// the file open, and so takes a microsecond; the file follows every second and at Close.
// A crash forgets the last second's counts, and with it all places that were held.
func (s *Store) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	return s.counts.Draw(ctx, draws)
}

// Release implements state.Limits.
func (s *Store) Release(ctx context.Context, holds []state.Draw) error {
	return s.counts.Release(ctx, holds)
}

// saveCounts writes down what has changed.
func (s *Store) saveCounts() error {
	for {
		list := s.counts.Changed(batch)
		if len(list) == 0 {
			return nil
		}
		err := s.hand(func(w *writer) error { return w.save(list) })
		if err != nil {
			s.counts.Again(list)
			return err
		}
	}
}

func (w *writer) save(list []state.Count) error {
	for _, c := range list {
		var err error
		if c.Kind == 0 {
			_, err = w.put.deleteCount.Exec([]byte(c.Key))
		} else {
			_, err = w.put.putCount.Exec([]byte(c.Key), int64(c.Kind), c.Until, c.Units, c.Parts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadCounts goes on where the last process has stopped.
func (s *Store) loadCounts(ctx context.Context) (err error) {
	rows, err := s.readers.QueryContext(ctx, `SELECT key, kind, until, units, parts FROM counts`)
	if err != nil {
		return err
	}
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
		s.counts.Restore(c)
	}
	return rows.Err()
}
