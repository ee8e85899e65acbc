package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"modernc.org/sqlite"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// inspection is how long a file is looked through for damage when it is opened. What is
// found later fails the calls that need it.
const inspection = time.Second

// claimFile makes the file if it is not there, keeps others from reading it, and other
// gateways from using it.
func claimFile(path string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// The lock comes before the file: two gateways that start at once must not both make it.
	release, err = lock(path)
	if err != nil {
		return nil, err
	}
	// SQLite gives the files it makes beside this one the same mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator's path
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// connect opens a pool: of one connection that writes, or of several that only read.
func connect(c state.SQLiteConfig, at *place, writes bool) (*sql.DB, error) {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	sync := "NORMAL"
	if c.Sync == state.SyncFull {
		sync = "FULL"
	}
	pragmas := url.Values{"_pragma": {
		// busy_timeout: another program, such as a backup, may hold a lock for a moment (milliseconds).
		// trusted_schema: functions in a schema that somebody else wrote are not run.
		"busy_timeout(5000)", "synchronous(" + sync + ")", "temp_store(MEMORY)", "trusted_schema(OFF)",
		"cache_size(-16384)", // KiB for each connection
	}}
	most := 1
	if writes {
		pragmas.Add("_pragma", "journal_size_limit(67108864)")
		pragmas.Add("_pragma", "wal_autocheckpoint(4096)") // pages; few are then written twice
	} else {
		pragmas.Add("_pragma", "query_only(ON)")
		most = max(4, 2*runtime.GOMAXPROCS(0))
	}
	// All but the separator, "%" and "?" may stand in the path as it is.
	// modernc.org/sqlite takes pragmas as parameters of the name, and runs them on each new connection.
	name := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas.Encode()}).String()
	db := sql.OpenDB(connector{driver: new(sqlite.Driver), name: name, place: at})
	// Connections stay open: a new one has to read the schema and prepare its statements again.
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// inspect looks for damage, for a while.
func inspect(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, inspection)
	defer cancel()
	var found string
	// quick_check looks at every page but not at indexes; 1 ends it with the first thing wrong.
	err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	switch {
	// quick_check reads every page; for a file of many gigabytes nobody waits for that at a start.
	case ctx.Err() != nil:
		return nil // a big file; so far it is sound
	case err != nil:
		return damaged(err)
	case found != "ok":
		return damaged(errors.New(found))
	}
	return nil
}

// damaged tells an operator what to do. The gateway does not begin anew by itself: an
// id without an owner could be taken by anyone.
func damaged(err error) error {
	return fmt.Errorf("the file cannot be read as a database (%w); restore it from a backup, or move it away to begin "+
		"with nothing, which makes all tasks and contexts so far unknown", err)
}
