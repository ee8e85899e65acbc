package sqlite

import (
	"context"
	"database/sql"
)

// statements are the texts of prepared statements, each by where it is put once it is.
type statements map[**sql.Stmt]string

// prepare prepares the statements of a part of the store: those for who only reads, on any
// of the connections of readers, and those for the one connection that writes.
func (d *database) prepare(ctx context.Context, reads, writes statements) error {
	// Those of a DB are prepared again on each of its connections that runs them.
	if _, err := reads.prepare(ctx, d.readers); err != nil {
		return err
	}
	return d.writer.prepare(ctx, writes)
}

// prepare returns those that it has made, with an error too.
func (s statements) prepare(ctx context.Context, on interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}) ([]*sql.Stmt, error) {
	var all []*sql.Stmt
	for at, text := range s {
		// SQLite parses and plans a statement once here; its runs are then a bind and a step.
		made, err := on.PrepareContext(ctx, text) //nolint:sqlclosecheck // the caller does
		if err != nil {
			return all, err
		}
		*at = made
		all = append(all, made)
	}
	return all, nil
}
