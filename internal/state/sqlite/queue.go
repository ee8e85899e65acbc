package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// forgets is how many dead items whose time has come a Take removes at most.
const forgets = 64

// The places of an item that lead its line.
const (
	first  = 1
	leased = 2
)

// queue is the state.Queue of the file: the rows of the table items. Triggers of the schema
// count them in queues and shares.
type queue struct {
	db   *database
	read queueReads
	put  queuePuts
}

// newQueue prepares the statements of the table items.
func newQueue(ctx context.Context, db *database) (*queue, error) {
	q := &queue{db: db}
	return q, db.prepare(ctx, q.read.statements(), q.put.statements())
}

// Push implements state.Queue.
func (q *queue) Push(ctx context.Context, name string, it state.Item, most int64) (bool, error) {
	if err := it.Check(); err != nil {
		return false, err
	}
	in, id := []byte(name), []byte(it.ID)
	// Copies: the caller may change Data while the job waits.
	values := []any{
		in, []byte(it.Line), id, append([]byte{}, it.Data...), state.Micros(it.Pushed), state.Micros(it.Due), max(most, 0),
		share(it.Owner()),
	}
	// The statement pushes unless the queue is full or has the id; which of the two it was is asked
	// only when it did not push.
	var pushed, there bool
	err := q.db.write(ctx, func() (err error) {
		if pushed, err = changed(q.put.push.Exec(values...)); err != nil || pushed {
			return err
		}
		return q.put.has.QueryRow(in, id).Scan(&there)
	})
	switch {
	case err != nil:
		return false, err
	case !pushed && !there:
		return false, state.ErrFull
	}
	return pushed, nil
}

// share is how an owner is looked for among shares: nobody has none.
func share(owner string) any {
	if owner == "" {
		return nil
	}
	return []byte(owner)
}

// Take implements state.Queue. Where nothing is due it needs no writer.
func (q *queue) Take(ctx context.Context, name, holder string, now time.Time, n int, lease time.Duration) ([]state.Item, error) {
	if err := state.CheckHolder(holder); err != nil {
		return nil, err
	}
	in, at := []byte(name), state.Micros(now)
	// Workers poll. With nothing due, the usual case, a reader can say so.
	var some bool
	if err := q.read.any.QueryRow(in, at).Scan(&some); err != nil || !some {
		return nil, err
	}
	values := []any{in, at, state.Micros(now.Add(lease)), []byte(holder), max(n, 0)}
	var taken []numbered
	err := q.db.write(ctx, func() (err error) {
		// Three things in one transaction: dead items whose time is over go, leases that have ended are
		// no longer leases, and what is due is leased.
		if _, err = q.put.forget.Exec(in, at, forgets); err != nil {
			return err
		}
		if _, err = q.put.end.Exec(in, at); err != nil {
			return err
		}
		taken, err = query(q.put.take, values...)
		return err
	})
	if err != nil {
		return nil, err
	}
	// RETURNING promises none.
	// They come in no order.
	// By the time from which they were due, those of one moment in the order of their arrival.
	slices.SortFunc(taken, func(a, b numbered) int {
		return cmp.Or(a.item.Due.Compare(b.item.Due), cmp.Compare(a.number, b.number))
	})
	return plain(taken), nil
}

// Done implements state.Queue.
func (q *queue) Done(ctx context.Context, name, holder, id string) error {
	return q.settle(ctx, func() (bool, error) {
		line, err := q.leave(q.put.done, []byte(name), []byte(id), []byte(holder))
		return line != nil, err
	})
}

// Again implements state.Queue.
func (q *queue) Again(ctx context.Context, name, holder, id string, due time.Time, failure string) error {
	return q.settle(ctx, func() (bool, error) {
		return changed(q.put.again.Exec([]byte(name), []byte(id), []byte(holder),
			state.Micros(due), []byte(state.CutFailure(failure))))
	})
}

// Bury implements state.Queue.
func (q *queue) Bury(ctx context.Context, name, holder, id, failure string, now time.Time, keep state.Keep) error {
	return q.settle(ctx, func() (bool, error) {
		in := []byte(name)
		line, err := q.leave(q.put.bury, in, []byte(id), []byte(holder),
			state.Micros(now.Add(keep.For)), []byte(state.CutFailure(failure)))
		if err != nil || line == nil || keep.Most <= 0 {
			return line != nil, err
		}
		owner := share((&state.Item{Line: string(line)}).Owner())
		var full bool
		// Over the bound by one at most, as each Bury looks: so one goes.
		if err := q.put.crowded.QueryRow(in, owner, keep.Most+1).Scan(&full); err != nil || !full {
			return true, err
		}
		_, err = q.put.forgetOldest.Exec(in, owner)
		return true, err
	})
}

// settle does what only the holder of an item may.
func (q *queue) settle(ctx context.Context, do func() (bool, error)) error {
	var held bool
	err := q.db.write(ctx, func() (err error) {
		held, err = do()
		return err
	})
	if err == nil && !held {
		err = state.ErrTaken
	}
	return err
}

// leave runs a statement that takes the first of a line out of it, and returns the line;
// nil where it did not. The statement begins with the queue and returns the line.
func (q *queue) leave(statement *sql.Stmt, values ...any) (line []byte, err error) {
	if err := statement.QueryRow(values...).Scan(&line); err != nil {
		return nil, some(err)
	}
	_, err = q.put.lead.Exec(values[0], line)
	return line, err
}

// Revive implements state.Queue.
func (q *queue) Revive(ctx context.Context, name, id string, now time.Time) (bool, error) {
	in, key, at := []byte(name), []byte(id), state.Micros(now)
	var revived bool
	err := q.db.write(ctx, func() error {
		var line []byte
		revived = false
		if err := q.put.line.QueryRow(in, key, at).Scan(&line); err != nil {
			return some(err)
		}
		var err error
		revived, err = changed(q.put.revive.Exec(in, line, key, at))
		return err
	})
	return revived && err == nil, err
}

// Remove implements state.Queue.
func (q *queue) Remove(ctx context.Context, name, id string) (bool, error) {
	in, key := []byte(name), []byte(id)
	var removed bool
	err := q.db.write(ctx, func() error {
		var (
			line  []byte
			place int64
		)
		// Set anew each time, as the job may run twice; see job.
		removed = false
		if err := q.put.removeItem.QueryRow(in, key).Scan(&line, &place); err != nil {
			return some(err)
		}
		removed = true
		// Only who led its line leaves a place to the next one.
		if place != first && place != leased {
			return nil
		}
		_, err := q.put.lead.Exec(in, line)
		return err
	})
	return removed && err == nil, err
}

// RemoveLine implements state.Queue.
func (q *queue) RemoveLine(ctx context.Context, name, line string) (int, error) {
	var n int64
	err := q.db.write(ctx, func() error {
		result, err := q.put.removeLine.Exec([]byte(name), []byte(line))
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// Items implements state.Queue.
func (q *queue) Items(_ context.Context, name string, dead bool, after string, limit int) ([]state.Item, error) {
	statement := q.read.waiting
	if dead {
		statement = q.read.dead
	}
	list, err := query(statement, []byte(name), []byte(after), max(limit, 0))
	return plain(list), err
}

// Depth implements state.Queue.
func (q *queue) Depth(_ context.Context, name string, now time.Time) (state.Depth, error) {
	var (
		d      state.Depth
		oldest int64
	)
	// One statement, so that all three numbers are of one moment.
	err := q.read.depth.QueryRow([]byte(name), state.Micros(now)).Scan(&d.Waiting, &d.Dead, &oldest)
	d.Oldest = state.FromMicros(oldest)
	return d, err
}

// numbered is an item and its place among all.
type numbered struct {
	number int64
	item   state.Item
}

// plain leaves the numbers away, which are for sorting.
func plain(list []numbered) []state.Item {
	var items []state.Item
	for _, n := range list {
		items = append(items, n.item)
	}
	return items
}

// query reads the items that a statement returns.
func query(statement *sql.Stmt, values ...any) ([]numbered, error) {
	rows, err := statement.Query(values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []numbered
	for rows.Next() {
		var (
			n                 numbered
			id, line, failure []byte
			pushed, due       int64
			it                = &n.item
		)
		if err := rows.Scan(&n.number, &id, &line, &it.Data, &pushed, &due, &it.Attempts, &failure, &it.Dead); err != nil {
			return nil, err
		}
		it.ID, it.Line, it.Error = string(id), string(line), string(failure)
		it.Pushed, it.Due = state.FromMicros(pushed), state.FromMicros(due)
		list = append(list, n)
	}
	return list, rows.Err()
}

// changed says whether a statement changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// some is an error, but not that there is no row.
func some(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
