package index

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
)

// bulk is of how many records on it is quicker to put the indexes aside, and to make them
// when the records are there. Each record that is added changes pages here and there in
// most of them; made afterwards they are sorted first, and written once.
const bulk = 100000

// shed puts the indexes aside where so many records come that it pays (bulk): it drops them once as
// many records have been added as there were before, so that making them anew costs no more than a
// few times what adding them did.
// It is skipped where temporary files cannot be made: sorting in memory would take too much.
func (i *Index) shed(ctx context.Context, tx *sql.Tx, added int) error {
	if added < i.bulk || !spills() {
		return nil
	}
	var first, last int
	for end, to := range map[string]*int{"min": &first, "max": &last} { // each alone is looked up, both together are not
		if err := tx.QueryRowContext(ctx, "SELECT coalesce("+end+"(seq), 0) FROM records").Scan(to); err != nil {
			return err
		}
	}
	if last-first >= 2*added {
		return nil
	}
	for name := range statements() {
		if _, err := tx.ExecContext(ctx, "DROP INDEX IF EXISTS "+name); err != nil { //nolint:gosec // a name in schema.sql
			return err
		}
	}
	return nil
}

// complete makes the indexes that shed has put aside, or that are not there yet, and reports
// whether there were any: who put them aside may have been stopped, or be another process. told is
// called after each.
//
// What a time limit ends is lost of an index, where records that have been added are kept.
// So that one who always has a limit gets on too, it ends no index that has been begun.
func (i *Index) complete(ctx context.Context, told func()) (made bool, err error) {
	var there string
	err = i.db.QueryRowContext(ctx, "SELECT coalesce(group_concat(name), '') FROM sqlite_schema WHERE type = 'index'").Scan(&there)
	if err != nil {
		return false, err
	}
	begun := ctx
	if _, limited := ctx.Deadline(); limited {
		begun = context.WithoutCancel(ctx)
	}
	for name, statement := range statements() {
		if slices.Contains(strings.Split(there, ","), name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return made, err
		}
		if err := i.sorting(begun, statement); err != nil {
			return made, fmt.Errorf("%s: %w", name, err)
		}
		made = true
		told()
	}
	return made, nil
}

// sorting runs a statement that sorts much: in files where that is possible, which are
// gone when it is done, and in memory where nothing but the log can be written. Otherwise the
// connection sorts in memory, since questions sort little.
func (i *Index) sorting(ctx context.Context, statement string) error {
	if spills() {
		if _, err := i.db.ExecContext(ctx, "PRAGMA temp_store = FILE"); err != nil {
			return err
		}
		defer func() { _, _ = i.db.ExecContext(context.WithoutCancel(ctx), "PRAGMA temp_store = MEMORY") }() // as it was; either will do
	}
	_, err := i.db.ExecContext(ctx, statement)
	return err
}

// spills reports whether files can be made for a while. SQLite looks where os.TempDir does. It is
// tried and not looked up: containers have file systems that are read-only but for the log.
func spills() bool {
	f, err := os.CreateTemp("", "a2a-gateway-*")
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return os.Remove(f.Name()) == nil
}

// statements are those of the schema that make an index, by its name. They are taken from the schema,
// which has each on a line of its own, so that there is one place that says what is indexed.
func statements() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(schema) {
		if words := strings.Fields(line); len(words) > 3 && words[0] == "CREATE" && words[1] == "INDEX" {
			all[words[2]] = strings.Replace(line, "INDEX", "INDEX IF NOT EXISTS", 1)
		}
	}
	return all
}
