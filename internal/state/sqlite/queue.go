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

// Push implements state.Queue.
func (s *Store) Push(ctx context.Context, queue string, it state.Item, most int64) (bool, error) {
	if err := it.Check(); err != nil {
		return false, err
	}
	name, id := []byte(queue), []byte(it.ID)
	values := []any{
		name, []byte(it.Line), id, append([]byte{}, it.Data...), state.Micros(it.Pushed), state.Micros(it.Due), max(most, 0),
		share(it.Owner()),
	}
	var pushed, there bool
	err := s.write(ctx, func(w *writer) (err error) {
		if pushed, err = changed(w.queue.push.Exec(values...)); err != nil || pushed {
			return err
		}
		return w.queue.has.QueryRow(name, id).Scan(&there)
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
func (s *Store) Take(ctx context.Context, queue, holder string, now time.Time, n int, lease time.Duration) ([]state.Item, error) {
	if err := state.CheckHolder(holder); err != nil {
		return nil, err
	}
	name, at := []byte(queue), state.Micros(now)
	var some bool
	if err := s.read.queue.any.QueryRow(name, at).Scan(&some); err != nil || !some {
		return nil, err
	}
	values := []any{name, at, state.Micros(now.Add(lease)), []byte(holder), max(n, 0)}
	var taken []numbered
	err := s.write(ctx, func(w *writer) (err error) {
		if _, err = w.queue.forget.Exec(name, at, forgets); err != nil {
			return err
		}
		if _, err = w.queue.end.Exec(name, at); err != nil {
			return err
		}
		taken, err = query(w.queue.take, values...)
		return err
	})
	if err != nil {
		return nil, err
	}
	// They come in no order.
	slices.SortFunc(taken, func(a, b numbered) int {
		return cmp.Or(a.item.Due.Compare(b.item.Due), cmp.Compare(a.number, b.number))
	})
	return plain(taken), nil
}

// Done implements state.Queue.
func (s *Store) Done(ctx context.Context, queue, holder, id string) error {
	return s.settle(ctx, func(w *writer) (bool, error) {
		line, err := w.leave(w.queue.done, []byte(queue), []byte(id), []byte(holder))
		return line != nil, err
	})
}

// Again implements state.Queue.
func (s *Store) Again(ctx context.Context, queue, holder, id string, due time.Time, failure string) error {
	return s.settle(ctx, func(w *writer) (bool, error) {
		return changed(w.queue.again.Exec([]byte(queue), []byte(id), []byte(holder),
			state.Micros(due), []byte(state.CutFailure(failure))))
	})
}

// Bury implements state.Queue.
func (s *Store) Bury(ctx context.Context, queue, holder, id, failure string, now time.Time, keep state.Keep) error {
	return s.settle(ctx, func(w *writer) (bool, error) {
		name := []byte(queue)
		line, err := w.leave(w.queue.bury, name, []byte(id), []byte(holder),
			state.Micros(now.Add(keep.For)), []byte(state.CutFailure(failure)))
		if err != nil || line == nil || keep.Most <= 0 {
			return line != nil, err
		}
		owner := share((&state.Item{Line: string(line)}).Owner())
		var full bool
		if err := w.queue.crowded.QueryRow(name, owner, keep.Most+1).Scan(&full); err != nil || !full {
			return true, err
		}
		_, err = w.queue.forgetOldest.Exec(name, owner)
		return true, err
	})
}

// settle does what only the holder of an item may.
func (s *Store) settle(ctx context.Context, do func(*writer) (bool, error)) error {
	var held bool
	err := s.write(ctx, func(w *writer) (err error) {
		held, err = do(w)
		return err
	})
	if err == nil && !held {
		err = state.ErrTaken
	}
	return err
}

// leave runs a statement that takes the first of a line out of it, and returns the line;
// nil where it did not. The statement begins with the queue and returns the line.
func (w *writer) leave(statement *sql.Stmt, values ...any) (line []byte, err error) {
	if err := statement.QueryRow(values...).Scan(&line); err != nil {
		return nil, some(err)
	}
	_, err = w.queue.lead.Exec(values[0], line)
	return line, err
}

// Revive implements state.Queue.
func (s *Store) Revive(ctx context.Context, queue, id string, now time.Time) (bool, error) {
	name, key, at := []byte(queue), []byte(id), state.Micros(now)
	var revived bool
	err := s.write(ctx, func(w *writer) error {
		var line []byte
		revived = false
		if err := w.queue.line.QueryRow(name, key, at).Scan(&line); err != nil {
			return some(err)
		}
		var err error
		revived, err = changed(w.queue.revive.Exec(name, line, key, at))
		return err
	})
	return revived && err == nil, err
}

// Remove implements state.Queue.
func (s *Store) Remove(ctx context.Context, queue, id string) (bool, error) {
	name, key := []byte(queue), []byte(id)
	var removed bool
	err := s.write(ctx, func(w *writer) error {
		var (
			line  []byte
			place int64
		)
		removed = false
		if err := w.queue.removeItem.QueryRow(name, key).Scan(&line, &place); err != nil {
			return some(err)
		}
		removed = true
		if place != first && place != leased {
			return nil
		}
		_, err := w.queue.lead.Exec(name, line)
		return err
	})
	return removed && err == nil, err
}

// RemoveLine implements state.Queue.
func (s *Store) RemoveLine(ctx context.Context, queue, line string) (int, error) {
	var n int64
	err := s.write(ctx, func(w *writer) error {
		result, err := w.queue.removeLine.Exec([]byte(queue), []byte(line))
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
func (s *Store) Items(_ context.Context, queue string, dead bool, after string, limit int) ([]state.Item, error) {
	statement := s.read.queue.waiting
	if dead {
		statement = s.read.queue.dead
	}
	list, err := query(statement, []byte(queue), []byte(after), max(limit, 0))
	return plain(list), err
}

// Depth implements state.Queue.
func (s *Store) Depth(_ context.Context, queue string, now time.Time) (state.Depth, error) {
	var (
		d      state.Depth
		oldest int64
	)
	err := s.read.queue.depth.QueryRow([]byte(queue), state.Micros(now)).Scan(&d.Waiting, &d.Dead, &oldest)
	d.Oldest = state.FromMicros(oldest)
	return d, err
}

// numbered is an item and its place among all.
type numbered struct {
	number int64
	item   state.Item
}

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
