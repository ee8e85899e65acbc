package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	// probing is how long to wait between looks at a file that takes no writes.
	probing = 250 * time.Millisecond
	// probed is how many bytes have to find room then: those of a task with its context and
	// all that points to them, and more.
	probed = 64 << 10
)

// refusal is whether the file takes writes. A disk that is full, a file system that became
// read-only or another program that keeps the file locked fails this write and the next.
type refusal struct {
	path string
	told func(error)

	why   atomic.Pointer[error] // nil while writes work
	wrote atomic.Int64          // when one last did, in Unix nanoseconds
}

// codes of errors that the next write would have as well. Those that are left out are about
// the statement, or what it brought.
var refuses = map[int]bool{
	sqlite3.SQLITE_PERM: true, sqlite3.SQLITE_BUSY: true, sqlite3.SQLITE_LOCKED: true, sqlite3.SQLITE_NOMEM: true,
	sqlite3.SQLITE_READONLY: true, sqlite3.SQLITE_IOERR: true, sqlite3.SQLITE_CORRUPT: true, sqlite3.SQLITE_FULL: true,
	sqlite3.SQLITE_CANTOPEN: true, sqlite3.SQLITE_PROTOCOL: true, sqlite3.SQLITE_NOTADB: true,
}

// named is an error of a write as callers get it: one that the next would have too says whose
// words it is in.
func (r *refusal) named(err error) error {
	var e *sqlite.Error
	if errors.Is(err, errSlow) || errors.As(err, &e) && refuses[e.Code()&0xff] {
		return state.Refusing("sqlite", fmt.Errorf("%s: %w", r.path, err))
	}
	return err
}

// away is why the file takes no writes, as far as is known.
func (r *refusal) away() error {
	if why := r.why.Load(); why != nil {
		return *why
	}
	return nil
}

// heard takes over what became of a write, and looks for the end where it was refused.
func (s *Store) heard(err error) error {
	err = s.refusal.named(err)
	if err == nil || !errors.Is(err, state.ErrUnavailable) || s.place.lost.Load() != nil ||
		!s.refusal.why.CompareAndSwap(nil, &err) {
		return err
	}
	s.refusal.wrote.Store(0)
	s.refusal.told(err)
	return err
}

// probe finds out whether a file takes writes again that took none.
func (s *Store) probe() {
	if s.refusal.why.Load() == nil {
		return
	}
	data := bytes.Repeat([]byte{byte(time.Now().UnixNano() & 0xff)}, probed) // SQLite writes nothing where nothing has changed
	if s.Put(context.Background(), "", "probe", data, sweeping) == nil {
		s.refusal.why.Store(nil)
		s.refusal.told(nil)
	}
}

// Ready implements state.Distant.
func (s *Store) Ready(ctx context.Context, agent string) error {
	if err := s.Away(agent); err != nil {
		return err
	}
	if time.Now().UnixNano()-s.refusal.wrote.Load() < int64(state.Proven) {
		return nil
	}
	return s.touch(ctx)
}

// touch writes what was there before, and takes note that this works.
func (s *Store) touch(ctx context.Context) error {
	start := time.Now().UnixNano()
	err := s.write(ctx, func(w *writer) error {
		_, err := w.put.touch.Exec()
		return err
	})
	if err == nil {
		s.refusal.wrote.Store(start)
	}
	return err
}
