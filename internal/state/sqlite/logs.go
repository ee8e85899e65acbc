package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const selectTail = `SELECT l.first, l.last, e.number, e.data
		FROM logs l LEFT JOIN log_entries e ON e.log = l.id AND e.number > ?
		WHERE l.name = ? AND l.expires > ? ORDER BY e.number LIMIT ?`

// logs are the state.Logs of the file: the rows of the table of that name, and those of
// log_entries.
type logs struct {
	db *database

	tail                            *sql.Stmt // of readers
	current, insert, update, remove *sql.Stmt // of the writer, as those below
	addEntry, sizes, cutEntries     *sql.Stmt
	sweepEntries, sweep             *sql.Stmt
}

// newLogs prepares the statements of the tables logs and log_entries.
func newLogs(ctx context.Context, db *database) (*logs, error) {
	l := &logs{db: db}
	return l, db.prepare(ctx, statements{&l.tail: selectTail}, statements{
		&l.current:    `SELECT id, first, last, bytes, expires FROM logs WHERE name = ?`,
		&l.insert:     `INSERT INTO logs (name, first, last, bytes, expires) VALUES (?, ?, ?, ?, ?) RETURNING id`,
		&l.update:     `UPDATE logs SET first = ?, last = ?, bytes = ?, expires = ? WHERE id = ?`,
		&l.remove:     `DELETE FROM logs WHERE id = ?`,
		&l.addEntry:   `INSERT INTO log_entries (log, number, data) VALUES (?, ?, ?)`,
		&l.sizes:      `SELECT length(data) FROM log_entries WHERE log = ? ORDER BY number`,
		&l.cutEntries: `DELETE FROM log_entries WHERE log = ? AND number < ?`,
		// A log goes after the last of its entries.
		&l.sweepEntries: `DELETE FROM log_entries WHERE rowid IN
			(SELECT e.rowid FROM logs l JOIN log_entries e ON e.log = l.id WHERE l.expires <= ? LIMIT ?)`,
		&l.sweep: `DELETE FROM logs WHERE id IN
			(SELECT id FROM logs l WHERE expires <= ?
				AND NOT EXISTS (SELECT 1 FROM log_entries WHERE log = l.id) LIMIT ?)`,
	})
}

// addition is an Append on its way to the writer.
type addition struct {
	log     []byte
	after   uint64      // number of the entry that the caller takes for the last
	entries [][]byte    // copies, as the caller goes on with its own
	keep    state.Bound // what of the log is kept afterwards
	now     time.Time   // one reading of the clock, for expiry and the new one
}

// logHead is what a row says of a log. One that ran out stands as a new one does.
type logHead struct {
	id          int64 // 0 for none
	first, last int64 // of an empty one last is first - 1
	bytes       int64
}

// Append implements state.Logs.
func (l *logs) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep state.Bound) error {
	if err := keep.Check(log); err != nil {
		return err
	}
	a := &addition{log: []byte(log), after: after, entries: copies(entries), keep: keep, now: l.db.now()}
	var moved bool
	err := l.db.write(ctx, func() (err error) {
		moved, err = l.add(a)
		return err
	})
	if err == nil && moved {
		return state.ErrMoved
	}
	return err
}

// Read implements state.Logs. One statement sees one moment.
func (l *logs) Read(_ context.Context, log string, after uint64, limit int) (state.Tail, error) {
	if err := state.CheckLog(log); err != nil {
		return state.Tail{}, err
	}
	var t state.Tail
	// SQLite has no unsigned numbers: what is above the largest signed one is above every entry.
	// With no entry behind after there is a row all the same, of the log alone.
	rows, err := l.tail.Query(min(after, math.MaxInt64), []byte(log), l.db.now().UnixNano(), max(limit, 1))
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			number sql.NullInt64
			data   []byte
		)
		if err := rows.Scan(&t.First, &t.Last, &number, &data); err != nil {
			return state.Tail{}, err
		}
		// The log is there and has nothing behind after, or nothing was asked for but where it ends.
		if !number.Valid || limit <= 0 {
			break
		}
		if t.From == 0 {
			t.From = uint64(number.Int64) //nolint:gosec // numbers of entries are above zero
		}
		t.Entries = append(t.Entries, data)
	}
	if err := rows.Err(); err != nil {
		return state.Tail{}, err
	}
	return t, nil
}

// Drop implements state.Logs.
func (l *logs) Drop(ctx context.Context, log string) error {
	if err := state.CheckLog(log); err != nil {
		return err
	}
	return l.db.write(ctx, func() error {
		head, err := l.head([]byte(log), time.Time{})
		if err != nil || head.id == 0 {
			return err
		}
		if _, err = l.cutEntries.Exec(head.id, math.MaxInt64); err == nil {
			_, err = l.remove.Exec(head.id)
		}
		return err
	})
}

// add says whether the log has another end, and adds if not.
func (l *logs) add(a *addition) (moved bool, err error) {
	head, err := l.head(a.log, a.now)
	if err != nil {
		return false, err
	}
	// The writer has lost the log's end, or somebody else has appended: nothing may be added, or the
	// numbers that readers count on would name other entries.
	if uint64(head.last) != a.after { //nolint:gosec // numbers of entries are above zero
		return true, nil
	}
	// There is nothing to hold, and a log without entries would be a row for nothing.
	if head.last == 0 && len(a.entries) == 0 {
		return false, nil
	}
	// Of more new entries than the log may have only the last are written at all.
	fresh, size := a.fit()
	if err := l.cut(&head, a, len(fresh), size); err != nil {
		return false, err
	}
	head.bytes += size
	head.last += int64(len(a.entries))
	expires := a.now.Add(a.keep.TTL).UnixNano()
	if head.id == 0 {
		err = l.insert.QueryRow(a.log, head.first, head.last, head.bytes, expires).Scan(&head.id)
	} else {
		_, err = l.update.Exec(head.first, head.last, head.bytes, expires, head.id)
	}
	// Entries come after the row of their log, whose id they need.
	for i := 0; i < len(fresh) && err == nil; i++ {
		_, err = l.addEntry.Exec(head.id, head.last-int64(len(fresh)-1-i), fresh[i])
	}
	return false, err
}

// fit is those of the new entries that are kept, and their size.
func (a *addition) fit() (fresh [][]byte, size int64) {
	n := len(a.entries)
	for n > 0 && len(a.entries)-n < a.keep.Entries {
		more := int64(len(a.entries[n-1]))
		if n < len(a.entries) && size+more > a.keep.Bytes {
			break
		}
		n, size = n-1, size+more
	}
	return a.entries[n:], size
}

// cut takes away the old entries that have to make room for new ones of a size.
func (l *logs) cut(head *logHead, a *addition, fresh int, size int64) error {
	// It is empty: the first entry that is kept is the first of the fresh ones, whatever came before
	// them in the same Append.
	if head.id == 0 || head.last < head.first {
		head.first = head.last + 1 + int64(len(a.entries)-fresh)
		return nil
	}
	from := head.first
	switch {
	// Not even all new entries find room, so that no old one does.
	case fresh < len(a.entries):
		head.first, head.bytes = head.last+1+int64(len(a.entries)-fresh), 0
	case head.last-head.first+1+int64(fresh) > int64(a.keep.Entries) || head.bytes+size > a.keep.Bytes:
		if err := l.pass(head, a.keep, int64(fresh), size); err != nil {
			return err
		}
	}
	if head.first == from {
		return nil
	}
	_, err := l.cutEntries.Exec(head.id, head.first)
	return err
}

// pass passes by the oldest entries until the rest is within a bound with the new ones.
func (l *logs) pass(head *logHead, keep state.Bound, fresh, size int64) (err error) {
	rows, err := l.sizes.Query(head.id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for last := head.last + fresh; head.first < last; head.first++ {
		// Sizes come oldest first; each that is passed by makes room.
		if last-head.first < int64(keep.Entries) && head.bytes+size <= keep.Bytes {
			break
		}
		if !rows.Next() {
			break
		}
		var old int64
		if err := rows.Scan(&old); err != nil {
			return err
		}
		head.bytes -= old
	}
	return rows.Err()
}

// head finds a log; what has run out at a moment is emptied.
func (l *logs) head(log []byte, now time.Time) (logHead, error) {
	var (
		head    logHead
		expires int64
	)
	err := l.current.QueryRow(log).Scan(&head.id, &head.first, &head.last, &head.bytes, &expires)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return logHead{first: 1}, nil
	// A Drop has no moment, and takes a log that has run out like any other.
	case err != nil || now.IsZero() || expires > now.UnixNano():
		return head, err
	}
	_, err = l.cutEntries.Exec(head.id, math.MaxInt64)
	return logHead{id: head.id, first: 1}, err
}

// copies are of what the caller may change while it waits to be written.
func copies(entries [][]byte) [][]byte {
	all := make([][]byte, len(entries))
	for i, e := range entries {
		all[i] = append([]byte{}, e...)
	}
	return all
}
