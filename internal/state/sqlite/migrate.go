package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
)

// migrations bring a file from each version of the schema to the next; the name is the
// version that they lead to. One that was released never changes.
//
//go:embed schema/*.sql
var migrations embed.FS

// application marks our files (PRAGMA application_id): "A2AG".
const application = 0x41324147

// newest is how many migrations there are.
func newest() (int, error) {
	list, err := migrations.ReadDir("schema")
	return len(list), err
}

// migrate brings a file up to date, each step in a transaction, and returns the version
// that it then has.
func migrate(ctx context.Context, conn *sql.Conn) (int, error) {
	version, err := versionOf(ctx, conn)
	if err != nil {
		return 0, err
	}
	target, err := newest()
	if err != nil {
		return 0, err
	}
	// An older gateway would not know what columns of a newer one mean, and might undo them.
	if version > target {
		return 0, fmt.Errorf("a newer gateway wrote the file (schema %d, this one knows %d); run that one, "+
			"or restore a backup from before", version, target)
	}
	// From here on the file is ours to change. Steps that go to the journal need no fsync
	// of their own.
	if _, err := conn.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return 0, err
	}
	for ; version < target; version++ {
		if err := step(ctx, conn, version+1); err != nil {
			return 0, fmt.Errorf("migrate the schema to %d: %w", version+1, err)
		}
	}
	return version, nil
}

// versionOf reads the version of a file that is ours; 0 of one with nothing in it.
func versionOf(ctx context.Context, conn *sql.Conn) (int, error) {
	var version, id, tables int
	// Three questions that every SQLite file can answer, before anything is written to it.
	err := errors.Join(
		conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version),
		conn.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id),
		conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables),
	)
	switch {
	case err != nil:
		return 0, damaged(err)
	// A new file has neither; another program's has tables, or an id of its own.
	case id != application && (id != 0 || version != 0 || tables != 0):
		return 0, errors.New("the file is a database of something else; name another")
	}
	return version, nil
}

// step runs the script that leads from one version to the next, schema/0003.sql to version 3.
func step(ctx context.Context, conn *sql.Conn, to int) error {
	// Numbers with leading zeros, so that a directory lists them in order.
	script, err := migrations.ReadFile(fmt.Sprintf("schema/%04d.sql", to))
	if err != nil {
		return err
	}
	// The version changes with the schema or not at all: a crash in the middle leaves the old one.
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("%s\n;PRAGMA application_id = %d; PRAGMA user_version = %d", script, application, to))
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
