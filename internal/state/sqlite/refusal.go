package sqlite

import (
	"errors"
	"fmt"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// refusal is whether the file takes writes. A disk that is full, a file system that became
// read-only or another program that keeps the file locked fails this write and the next.
//
//	why   the error that refused, in SQLite's words; nil while writes work
//	set by heard, at the first write that fails so
//	gone  by probe, four times a second while it is set, when a write works again
type refusal struct {
	path string      // of the file, for the words of errors
	told func(error) // of the first refusal, and nil when it is over

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
	// The low byte of a code is the kind of error, what is above it the detail (SQLite extended result
	// codes).
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
