package index

import (
	"context"
	"database/sql"
)

// stretch is how many numbers have their times noted together. Where records were made
// between two moments is found by these: numbers are in the order of writing, and times are
// what the clock showed, which somebody may have set.
const stretch = 10000

// times are the first and the last moment of stretches, in microseconds. A clock that was set back
// makes a stretch longer and loses no record.
type times map[int64]struct{ earliest, latest int64 }

// add widens a stretch by a moment. A whole batch is gathered before the file is written to, as
// nearly all of its records are of one stretch.
func (t times) add(stretch, at int64) {
	s, known := t[stretch]
	if !known {
		s.earliest, s.latest = at, at
	}
	s.earliest, s.latest = min(s.earliest, at), max(s.latest, at)
	t[stretch] = s
}

// keep widens what the index has of them. A stretch may have been begun before, by this process or
// another, in which case neither end may be moved inwards.
func (t times) keep(ctx context.Context, tx *sql.Tx) error {
	for id, s := range t {
		_, err := tx.ExecContext(ctx, "INSERT INTO stretches VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE"+
			" SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)", id, s.earliest, s.latest)
		if err != nil {
			return err
		}
	}
	return nil
}

// span is between which numbers the records are that come behind the one that the query
// names, and were made in its time. It is wider than that by up to a stretch at each end, or more
// where the clock was set back; each record is compared with the query again when it is read.
func (i *Index) span(q *Query) (where []string, args []any) {
	if q.Behind != 0 {
		where, args = append(where, "records.seq < ?"), append(args, int64(q.Behind)) //nolint:gosec // numbers have 18 digits at most
		if q.Oldest {
			where[0] = "records.seq > ?"
		}
	}
	if !q.From.IsZero() {
		where = append(where, "records.seq >= (SELECT min(id) FROM stretches WHERE latest >= ?) * ?")
		args = append(args, q.From.UnixMicro(), i.stretch)
	}
	if !q.Until.IsZero() {
		where = append(where, "records.seq < (SELECT max(id) + 1 FROM stretches WHERE earliest <= ?) * ?")
		args = append(args, q.Until.UnixMicro(), i.stretch)
	}
	return where, args
}
