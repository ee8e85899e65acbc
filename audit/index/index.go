package index

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	_ "modernc.org/sqlite" // the database/sql driver

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// File is the name of the index in the directory of the segments.
const File = "index.db"

// version is that of the schema. An index of another version is made anew.
const version = 8

//go:embed schema.sql
var schema string

// Index finds records. It is for one goroutine; several processes may have the same file
// open.
type Index struct {
	source reader.Source
	path   string
	key    []byte // of digests
	db     *sql.DB
	known  map[string]int64 // segments by name
	added  reader.Cursor    // how far this process has come
	spell  time.Duration    // that one transaction may take
	bulk   int              // records from which on the indexes are put aside

	stretch int64 // numbers whose times are noted together
}

// Open opens the index of a directory of segments, and makes it where there is none, or
// none that it can read: it can always be made from the segments. secret is what digests
// are made with where the log is encrypted; nil for a key of its own, which lies in the
// file.
// An error is about the file system; an index that cannot be used is not one.
func Open(ctx context.Context, source reader.Source, secret []byte) (*Index, error) {
	i := &Index{
		source: source, path: filepath.Join(source.Path, File), known: map[string]int64{}, spell: spell, bulk: bulk, stretch: stretch,
	}
	err := i.open(ctx, secret)
	if errors.Is(err, errStale) {
		if err = i.remove(); err == nil {
			err = i.open(ctx, secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", i.path, err)
	}
	return i, nil
}

// errStale says that an index has to be made anew. That is always possible and costs time alone, so
// that nothing about an old or broken one is mended.
var errStale = errors.New("it is of another version, another log or another key")

// open connects and prepares. It waits for its turn: another process may be making the indexes of a
// long log, and SQLite's own patience is ten seconds.
func (i *Index) open(ctx context.Context, secret []byte) error {
	fresh, err := i.connect()
	if err != nil {
		return err
	}
	err = turn(ctx, nil, func() error { return i.prepare(ctx, secret, fresh) })
	if err != nil {
		err = errors.Join(err, i.db.Close())
	}
	return err
}

// connect opens the file, readable by its owner only; SQLite would make it by the umask.
//
// Writes are not synced, because all of it can be made again from the segments. WAL lets one
// process ask while another adds.
func (i *Index) connect() (fresh bool, err error) {
	f, err := os.OpenFile(i.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	path, err := filepath.Abs(i.path)
	if err != nil {
		return false, err
	}
	pragmas := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(OFF)", // it can be made again
		"temp_store(MEMORY)", "trusted_schema(OFF)", "cache_size(-65536)", "mmap_size(1073741824)",
	}, "_txlock": {"immediate"}}
	i.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas.Encode()}).String())
	if err != nil {
		return false, err
	}
	// SQLite has one writer, and pragmas are per connection.
	i.db.SetMaxOpenConns(1)
	return info.Size() == 0, nil
}

// prepare makes the schema, or sees to it that it is the one that is known, and learns the segments.
//
// It is one transaction, which is exclusive from its beginning (_txlock=immediate): of two
// processes that open a new index one makes the schema, and the other finds it.
func (i *Index) prepare(ctx context.Context, secret []byte, fresh bool) error {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return stale(err)
	}
	defer func() { _ = tx.Rollback() }() // nothing after Commit
	var found int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return stale(err)
	}
	if fresh && found == 0 {
		if err := i.create(ctx, tx, secret); err != nil {
			return err
		}
		found = version
	}
	if found != version {
		return errStale
	}
	if err := i.unlock(ctx, tx, secret); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT id, name FROM segments")
	if err != nil {
		return stale(err)
	}
	defer func() { _ = rows.Close() }() // read to its end
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return stale(err)
		}
		i.known[name] = id
	}
	if err := rows.Err(); err != nil {
		return stale(err)
	}
	return tx.Commit()
}

// stale takes a file that SQLite cannot make anything of for one of another version. One
// that is only in use is left alone, and so is one that cannot be read for now: a full disk is no
// reason to throw hours of work away.
func stale(err error) error {
	var code interface{ Code() int }
	if errors.As(err, &code) && (code.Code()&0xff == sqliteNotADB || code.Code()&0xff == sqliteCorrupt) {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	return err
}

// Result codes of SQLite, https://sqlite.org/rescode.html. The driver exports none of them.
const (
	sqliteBusy    = 5
	sqliteCorrupt = 11
	sqliteNotADB  = 26
)

// create makes an empty index. What proves the key is a digest that it makes.
// proof lets an index be recognised whose log has another key by now.
func (i *Index) create(ctx context.Context, tx *sql.Tx, secret []byte) error {
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf(";PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	own := secret
	if own == nil {
		own = make([]byte, 32)
		_, _ = rand.Read(own) // it never fails
		if err := put(ctx, tx, "key", own); err != nil {
			return err
		}
	}
	proof, _ := (&Index{key: own}).digest('k', "key").(int64)
	return put(ctx, tx, "proof", fmt.Append(nil, proof))
}

// unlock finds the key, and that it is the one that the index was made with. With another one every
// question would be answered by nothing, which is worse than an index that is made anew.
func (i *Index) unlock(ctx context.Context, tx *sql.Tx, secret []byte) error {
	own, err := get(ctx, tx, "key")
	if err != nil {
		return err
	}
	// The log has been encrypted since, or is not any more.
	if (own == nil) == (secret == nil) {
		return errStale
	}
	if i.key = secret; secret == nil {
		i.key = own
	}
	proof, err := get(ctx, tx, "proof")
	if err != nil {
		return err
	}
	if string(proof) != fmt.Sprint(i.digest('k', "key")) {
		return errStale
	}
	return nil
}

// put sets a value of meta, in the transaction of whatever it goes with.
func put(ctx context.Context, tx *sql.Tx, name string, value []byte) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO meta VALUES (?, ?)", name, value)
	return err
}

// get is a value of meta, nil where there is none.
func get(ctx context.Context, tx *sql.Tx, name string) (value []byte, err error) {
	err = tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return value, stale(err)
}

// remove deletes the file, and what SQLite has beside it. Another process that has it open goes on
// with the file that is gone, and finds what it finds there until it opens the index again.
func (i *Index) remove() error {
	var errs []error
	// WAL and shared memory belong to the file that is gone, and would be replayed into the new
	// one.
	for _, behind := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(i.path + behind); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	clear(i.known)
	return errors.Join(errs...)
}

// Close closes the file. What is on its way there is not lost: it can be made again.
func (i *Index) Close() error { return i.db.Close() }

// place is how far the index has come: by whichever process, as the file says and not this one.
func (i *Index) place(ctx context.Context, tx *sql.Tx) (at reader.Cursor, err error) {
	value, err := get(ctx, tx, "cursor")
	if err != nil || value == nil {
		return at, err
	}
	return at, json.Unmarshal(value, &at)
}

// forget deletes what leads to segments that are not there any more: retention removes those
// without a word to the index. Times of records that are gone lead to nothing, and stay.
func (i *Index) forget(ctx context.Context, tx *sql.Tx) error {
	there, err := i.source.Segments()
	if err != nil {
		return err
	}
	for name, id := range i.known {
		if slices.Contains(there, name) {
			continue
		}
		for _, statement := range []string{"DELETE FROM records WHERE segment = ?", "DELETE FROM segments WHERE id = ?"} {
			if _, err := tx.ExecContext(ctx, statement, id); err != nil {
				return err
			}
		}
		delete(i.known, name)
	}
	return nil
}
