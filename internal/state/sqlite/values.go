package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	selectEntry = `SELECT data, expires FROM entries WHERE space = ? AND key = ? AND (expires = 0 OR expires > ?)`
	selectPage  = `SELECT key, data, expires FROM entries
		WHERE space = ? AND key > ? AND (expires = 0 OR expires > ?) ORDER BY key LIMIT ?`
)

// values are the state.Values of the file: the rows of the table entries.
//
// Keys and spaces are bytes of callers and may be no UTF-8, so that columns are BLOBs and all
// arguments []byte: SQLite takes a TEXT and a BLOB of the same bytes for different values.
type values struct {
	db *database

	entry, page                 *sql.Stmt // of readers
	current, put, remove, sweep *sql.Stmt // of the writer
}

// newValues prepares the statements of the table entries.
func newValues(ctx context.Context, db *database) (*values, error) {
	v := &values{db: db}
	return v, db.prepare(ctx, statements{
		&v.entry: selectEntry,
		&v.page:  selectPage,
	}, statements{
		&v.current: selectEntry,
		&v.put:     `REPLACE INTO entries (space, key, data, expires) VALUES (?, ?, ?, ?)`,
		&v.remove:  `DELETE FROM entries WHERE space = ? AND key = ?`,
		&v.sweep: `DELETE FROM entries WHERE (space, key) IN
			(SELECT space, key FROM entries WHERE expires <> 0 AND expires <= ? LIMIT ?)`,
	})
}

// Put implements state.Values.
func (v *values) Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error {
	row := v.row(space, key, data, ttl)
	return v.db.write(ctx, func() error {
		_, err := v.put.Exec(row...)
		return err
	})
}

// Add implements state.Values.
func (v *values) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	// Most Adds that fail, such as of a proof that was used before, are found out here without the
	// writer. Those that pass are decided in the transaction: two callers may have come this far.
	_, there, err := v.find(v.entry, space, key)
	if err != nil || there {
		return false, err
	}
	row := v.row(space, key, data, ttl)
	err = v.db.write(ctx, func() (err error) {
		if _, there, err = v.find(v.current, space, key); err == nil && !there {
			_, err = v.put.Exec(row...)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	return !there, nil
}

// Replace implements state.Values.
func (v *values) Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	row := v.row(space, key, data, ttl)
	var there bool
	err := v.db.write(ctx, func() (err error) {
		if _, there, err = v.find(v.current, space, key); err == nil && there {
			_, err = v.put.Exec(row...)
		}
		return err
	})
	return there && err == nil, err
}

// Get implements state.Values.
func (v *values) Get(_ context.Context, space, key string) ([]byte, bool, error) {
	return v.find(v.entry, space, key)
}

// Delete implements state.Values.
func (v *values) Delete(ctx context.Context, space, key string) error {
	return v.db.write(ctx, func() error {
		_, err := v.remove.Exec([]byte(space), []byte(key))
		return err
	})
}

// List implements state.Values.
func (v *values) List(_ context.Context, space, after string, limit int) ([]state.Value, error) {
	// A negative LIMIT is none to SQLite.
	if limit <= 0 {
		return nil, nil
	}
	rows, err := v.page.Query([]byte(space), []byte(after), v.db.now().UnixNano(), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []state.Value
	for rows.Next() {
		var (
			found   state.Value
			key     []byte
			expires int64
		)
		if err := rows.Scan(&key, &found.Data, &expires); err != nil {
			return nil, err
		}
		if found.Key = string(key); expires != 0 {
			found.Expires = time.Unix(0, expires).UTC()
		}
		list = append(list, found)
	}
	return list, rows.Err()
}

// find reads one value by a statement of the readers or of the writer. What has expired counts as
// not there, though the sweeper may not have come by.
func (v *values) find(read *sql.Stmt, space, key string) ([]byte, bool, error) {
	var (
		data    []byte
		expires int64
	)
	err := read.QueryRow([]byte(space), []byte(key), v.db.now().UnixNano()).Scan(&data, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// row is the columns of a value, with a copy of what the caller may change while it
// waits to be written.
func (v *values) row(space, key string, data []byte, ttl time.Duration) []any {
	expires := int64(0)
	// A negative ttl makes a row that nobody finds: find and List leave out what has expired.
	if ttl != 0 {
		expires = v.db.now().Add(ttl).UnixNano()
	}
	return []any{[]byte(space), []byte(key), append([]byte{}, data...), expires}
}
