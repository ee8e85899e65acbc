package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/telemetry/audit"
)

// batch is how many records are added in one transaction: enough to be quick, and few
// enough for another process to get its turn.
const batch = 20000

// Update adds the records that have come since it was called last, by whichever process.
// progress is told now and then how many that were; it may be nil.
func (i *Index) Update(ctx context.Context, progress func(added int)) error {
	for added := 0; ; {
		n, err := i.update(ctx)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if added += n; progress != nil && added > 0 {
			progress(added)
		}
		if n < batch {
			return nil
		}
	}
}

// update adds one batch.
func (i *Index) update(ctx context.Context) (n int, err error) {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing after Commit
	at, err := i.place(ctx, tx)
	if err != nil {
		return 0, err
	}
	if err := i.forget(ctx, tx); err != nil {
		return 0, err
	}
	if gone, err := i.elsewhere(at); err != nil {
		return 0, err
	} else if gone {
		at = audit.Cursor{} // the log was begun anew
		if _, err := tx.ExecContext(ctx, "DELETE FROM records"); err != nil {
			return 0, err
		}
	}
	insert, err := tx.PrepareContext(ctx, "INSERT OR REPLACE INTO records VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return 0, err
	}
	defer func() { _ = insert.Close() }() // goes with the transaction
	var f fields
	var lost *audit.LostError
	for entry, err := range i.source.Records(ctx, at) {
		if errors.As(err, &lost) {
			continue // there is nothing to be found of them
		}
		if err != nil {
			return 0, err
		}
		if err := i.add(ctx, tx, insert, &f, entry); err != nil {
			return 0, err
		}
		at = entry.Cursor
		if n++; n == batch {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	value, err := json.Marshal(at)
	if err != nil {
		return 0, err
	}
	if err := put(ctx, tx, "cursor", value); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// elsewhere reports whether the segment that the index has come to is not there.
func (i *Index) elsewhere(at audit.Cursor) (bool, error) {
	if at.Segment == "" {
		return false, nil
	}
	there, err := i.source.Segments()
	return !slices.Contains(there, at.Segment), err
}

func (i *Index) add(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, f *fields, e audit.Entry) error {
	if err := f.read(e.Line); err != nil {
		return fmt.Errorf("record %d in %s: %w", e.Seq, e.Cursor.Segment, err)
	}
	segment, known := i.known[e.Cursor.Segment]
	if !known {
		err := tx.QueryRowContext(ctx,
			"INSERT INTO segments (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
			e.Cursor.Segment).Scan(&segment)
		if err != nil {
			return err
		}
		i.known[e.Cursor.Segment] = segment
	}
	var decision any
	if d, ok := decisions[f.Decision]; ok {
		decision = d
	}
	_, err := insert.ExecContext(ctx, int64(e.Seq), f.Time.UnixMicro(), segment, e.Cursor.Offset, len(e.Line), types[f.Type], decision, //nolint:gosec // numbers have 18 digits at most
		i.digest('p', f.Principal), i.digest('a', f.Agent), i.digest('s', f.Skill), i.digest('t', f.Task), i.digest('c', f.Context),
		i.digest('w', f.Method+f.Event), // never both
		i.digest('r', f.Reason))
	return err
}
