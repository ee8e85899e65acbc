package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// Bounds of a transaction, during which the file is this process's alone: enough to be quick, and
// little enough for another process to get its turn, and for most of the work to be kept when time
// runs out.
const (
	batch = 20000 // records
	spell = 200 * time.Millisecond
)

// Update adds the records that have come since it was called last, by whichever process. Nobody
// keeps the index up to date but who asks: a gateway that nobody asks pays nothing for it.
// progress is told now and then how many that were; it may be nil.
// ctx may end it at any time; what was committed stays, and the next call goes on there. Indexes are
// made once there is nothing more to add, since records may have come meanwhile.
func (i *Index) Update(ctx context.Context, progress func(added int)) error {
	added := 0
	tell := func() {
		if progress != nil {
			progress(added)
		}
	}
	more, made := true, true
	for more || made { // records may have come while indexes were made
		var n int
		err := turn(ctx, tell, func() (err error) {
			n, more, err = i.update(ctx, added)
			return err
		})
		if added += n; err == nil && added > 0 {
			tell()
		}
		if made = false; err == nil && !more {
			err = turn(ctx, tell, func() error {
				some, err := i.complete(ctx, tell)
				made = made || some
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
	}
	return nil
}

// update adds one batch to those that were added before, and reports whether there may be
// more.
// The cursor is in the same transaction as the rows, so that two processes that update one index
// take turns and never add a record twice or pass one over.
func (i *Index) update(ctx context.Context, before int) (n int, more bool, err error) {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, false, err
	}
	known := maps.Clone(i.known)
	defer func() {
		if err != nil {
			_ = tx.Rollback() // what matters is why
			i.known = known
		}
	}()
	// What other processes have added since is in the transaction's view of the file.
	at, err := i.begin(ctx, tx)
	if err != nil {
		return 0, false, err
	}
	if n, more, err = i.addAll(ctx, tx, &at); err != nil {
		return 0, false, err
	}
	if more {
		if err := i.shed(ctx, tx, before+n); err != nil {
			return 0, false, err
		}
	}
	value, err := json.Marshal(at)
	if err != nil {
		return 0, false, err
	}
	if err := put(ctx, tx, "cursor", value); err != nil {
		return 0, false, err
	}
	if err = tx.Commit(); err == nil {
		i.added = at
	}
	return n, more, err
}

// begin is where to go on, with nothing left of what is not there any more.
// An index that is ahead of the log, or of another log, is emptied and filled again, in one
// transaction with what is added: nobody sees it empty.
func (i *Index) begin(ctx context.Context, tx *sql.Tx) (at reader.Cursor, err error) {
	if at, err = i.place(ctx, tx); err != nil {
		return at, err
	}
	if err := i.forget(ctx, tx); err != nil {
		return at, err
	}
	gone, err := i.elsewhere(at)
	if !gone || err != nil {
		return at, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM records; DELETE FROM stretches")
	return reader.Cursor{}, err // the log was begun anew, or is a copy from before
}

// addAll adds the records behind a place, as many as one transaction may have, and moves it. A
// record that is there already is replaced by itself: two processes may have begun at one place.
func (i *Index) addAll(ctx context.Context, tx *sql.Tx, at *reader.Cursor) (n int, more bool, err error) {
	insert, err := tx.PrepareContext(ctx, "INSERT OR REPLACE INTO records VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = insert.Close() }() // goes with the transaction
	var f fields
	var lost *reader.LostError
	made := times{}
	began := time.Now()
	for entry, err := range i.source.Records(ctx, *at) {
		if errors.As(err, &lost) {
			continue // there is nothing to be found of them
		}
		if err != nil {
			return 0, false, err
		}
		if err := i.add(ctx, tx, insert, &f, entry); err != nil {
			return 0, false, err
		}
		made.add(int64(entry.Seq)/i.stretch, f.Time.UnixMicro()) //nolint:gosec // numbers have 18 digits at most
		*at = entry.Cursor
		// Time as well as number bounds a transaction: others wait for its lock.
		if n++; n == batch || time.Since(began) >= i.spell {
			more = true
			break
		}
	}
	if err := made.keep(ctx, tx); err != nil {
		return 0, false, err
	}
	return n, more, ctx.Err()
}

// elsewhere reports whether the segment that the index has come to is not there, or the record is
// another one: the log was begun anew, or put back from a backup, under the same names. What this
// process has added itself it need not look at again.
func (i *Index) elsewhere(at reader.Cursor) (bool, error) {
	if at.Segment == "" {
		return false, nil
	}
	there, err := i.source.Segments()
	if err != nil || !slices.Contains(there, at.Segment) {
		return true, err
	}
	if at == i.added {
		return false, nil
	}
	known, err := i.source.Knows(at)
	return !known, err
}

// add puts one record in: where it stands, and digests of what can be asked for. Nothing of it is
// copied, so that the index of an encrypted log says no more than that something is the same as
// something else; answers are read from the segments.
func (i *Index) add(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, f *fields, e reader.Entry) error {
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
	// "allow" has no number: nearly every record is allowed, and an index on that would find
	// nothing faster.
	var decision any
	if d, ok := decisions[f.Decision]; ok {
		decision = d
	}
	var stage any
	if n, ok := stages[f.Stage]; ok {
		stage = n
	}
	// That there is a finding is noted, and not of which guard: calls with one are few, and each may have several.
	var found any
	if len(f.Guards) > 0 {
		found = 1
	}
	_, err := insert.ExecContext(ctx, int64(e.Seq), f.Time.UnixMicro(), segment, e.Cursor.Offset, len(e.Line), types[f.Type], decision, //nolint:gosec // numbers have 18 digits at most
		i.digest('p', f.Principal), i.digest('a', f.Agent), i.digest('s', f.Skill), i.digest('t', f.Task), i.digest('c', f.Context),
		i.digest('w', f.Method+f.Event), // never both
		i.digest('r', f.Reason), i.digest('i', f.Issuer), i.digest('u', f.Rule), stage,
		i.digest('v', f.Approval), found)
	return err
}
