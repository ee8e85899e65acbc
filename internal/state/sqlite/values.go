package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Put implements state.Values.
func (s *Store) Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error {
	row := s.entry(space, key, data, ttl)
	return s.write(ctx, func(w *writer) error {
		_, err := w.put.putEntry.Exec(row...)
		return err
	})
}

// Add implements state.Values.
func (s *Store) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	_, there, err := s.get(s.read.entry, space, key)
	if err != nil || there {
		return false, err
	}
	row := s.entry(space, key, data, ttl)
	err = s.write(ctx, func(w *writer) (err error) {
		if _, there, err = s.get(w.put.entry, space, key); err == nil && !there {
			_, err = w.put.putEntry.Exec(row...)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	return !there, nil
}

// Replace implements state.Values.
func (s *Store) Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	row := s.entry(space, key, data, ttl)
	var there bool
	err := s.write(ctx, func(w *writer) (err error) {
		if _, there, err = s.get(w.put.entry, space, key); err == nil && there {
			_, err = w.put.putEntry.Exec(row...)
		}
		return err
	})
	return there && err == nil, err
}

// Get implements state.Values.
func (s *Store) Get(_ context.Context, space, key string) ([]byte, bool, error) {
	return s.get(s.read.entry, space, key)
}

// Delete implements state.Values.
func (s *Store) Delete(ctx context.Context, space, key string) error {
	return s.write(ctx, func(w *writer) error {
		_, err := w.put.deleteEntry.Exec([]byte(space), []byte(key))
		return err
	})
}

// List implements state.Values.
func (s *Store) List(_ context.Context, space, after string, limit int) ([]state.Value, error) {
	if limit <= 0 {
		return nil, nil
	}
	rows, err := s.read.page.Query([]byte(space), []byte(after), s.now().UnixNano(), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []state.Value
	for rows.Next() {
		var (
			v       state.Value
			key     []byte
			expires int64
		)
		if err := rows.Scan(&key, &v.Data, &expires); err != nil {
			return nil, err
		}
		if v.Key = string(key); expires != 0 {
			v.Expires = time.Unix(0, expires).UTC()
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

func (s *Store) get(read *sql.Stmt, space, key string) ([]byte, bool, error) {
	var (
		data    []byte
		expires int64
	)
	err := read.QueryRow([]byte(space), []byte(key), s.now().UnixNano()).Scan(&data, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// entry is the columns of a value, with a copy of what the caller may change while it
// waits to be written.
func (s *Store) entry(space, key string, data []byte, ttl time.Duration) []any {
	expires := int64(0)
	if ttl != 0 {
		expires = s.now().Add(ttl).UnixNano()
	}
	return []any{[]byte(space), []byte(key), append([]byte{}, data...), expires}
}
