package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// indexes are those that are there.
func indexes(t *testing.T, i *Index) []string {
	t.Helper()
	rows, err := i.db.QueryContext(t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// calls appends calls of a few agents to a segment.
func calls(t *testing.T, dir, segment string, from, to int) {
	t.Helper()
	var lines []string
	for k := from; k <= to; k++ {
		lines = append(lines, record(k, fmt.Sprintf(`"type":"call","agent":"agent-%d"`, k%3), noon.Add(time.Duration(k)*time.Second)))
	}
	appendTo(t, dir, segment, lines...)
}

// hasty is an index that takes a transaction for each record, and few for many.
func hasty(t *testing.T, dir string) *Index {
	t.Helper()
	i := open(t, dir, nil)
	i.spell, i.bulk = 0, 10
	return i
}

// upTo is an update that is ended when so many records have been added, and the indexes
// that are there then.
func upTo(t *testing.T, i *Index, n int) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := i.Update(ctx, func(added int) {
		if added == n {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return indexes(t, i)
}

// TestBulk: where many records are added at once, the indexes are made when all are there,
// by whoever comes to the end; where they are few, beside those that were there, they stay.
func TestBulk(t *testing.T) {
	dir := t.TempDir()
	calls(t, dir, first, 1, 30)
	i := hasty(t, dir)
	all := indexes(t, i)
	if len(all) != len(statements()) || len(all) != strings.Count(schema, "CREATE INDEX") {
		t.Fatalf("%d indexes, of which %d are known", len(all), len(statements()))
	}
	if got := upTo(t, i, 9); !slices.Equal(got, all) {
		t.Errorf("nine of thirty: %v", got)
	}
	if got := upTo(t, i, 15); len(got) != 0 { // 9 + 15 are not twice 15
		t.Errorf("fifteen more: %v", got)
	}

	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	other := hasty(t, dir)
	told := 0
	if err := other.Update(limited, func(int) { told++ }); err != nil {
		t.Fatal(err)
	}
	if got := indexes(t, other); !slices.Equal(got, all) || told < 6+len(all) {
		t.Errorf("at the end, told %d times: %v", told, got)
	}
	want := []uint64{28, 25, 22, 19, 16, 13, 10, 7, 4, 1}
	for _, i := range []*Index{i, other} {
		if got := numbers(t, i.Find(t.Context(), Query{Agent: "agent-1"})); !slices.Equal(got, want) {
			t.Errorf("found %v", got)
		}
	}

	calls(t, dir, second, 31, 50)
	if got := upTo(t, i, 14); !slices.Equal(got, all) { // the half of 44 is more
		t.Errorf("fourteen beside thirty: %v", got)
	}
}

// TestBulkWithoutRoom: where only the log can be written the indexes stay, and those that
// somebody else has put aside are made in memory.
func TestBulkWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	calls(t, dir, first, 1, 30)
	i := hasty(t, dir)
	all := indexes(t, i)
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if got := upTo(t, i, 20); !slices.Equal(got, all) {
		t.Errorf("put aside: %v", got)
	}
	for _, name := range all {
		if _, err := i.db.ExecContext(t.Context(), "DROP INDEX "+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := i.Update(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := indexes(t, i); !slices.Equal(got, all) {
		t.Errorf("at the end: %v", got)
	}
}

// TestBulkOverdue: a time limit that is over ends an index before it is begun, and none that
// has been begun; one who has no limit and gives up ends both.
func TestBulkOverdue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls(t, dir, first, 1, 30)
	i := hasty(t, dir)
	all := indexes(t, i)
	if err := i.Update(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"by_agent", "by_task", "by_segment"} {
		if _, err := i.db.ExecContext(t.Context(), "DROP INDEX "+name); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if made, err := i.complete(gone, func() {}); made || !errors.Is(err, context.Canceled) {
		t.Error(made, err)
	}
	for left := 2; left >= 0; left-- {
		limited, over := context.WithTimeout(t.Context(), time.Minute)
		made, err := i.complete(limited, over)
		over()
		if got := indexes(t, i); len(got) != len(all)-left || !made || (err == nil) != (left == 0) {
			t.Errorf("%d are left: %v %v %v", left, made, err, got)
		}
	}
}

// TestTurn: one waits for a process that has the file as long as one can.
func TestTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls(t, dir, first, 1, 30)
	i, other := hasty(t, dir), open(t, dir, nil)
	if _, err := i.db.ExecContext(t.Context(), "PRAGMA busy_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	tx, err := other.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	waited, last := false, 0
	err = i.Update(t.Context(), func(added int) {
		if last = added; added == 0 && !waited {
			waited = true
			if err := tx.Rollback(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || !waited || last != 30 {
		t.Errorf("waited %v, %d added: %v", waited, last, err)
	}

	if tx, err = other.db.BeginTx(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := i.Update(limited, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another has the file: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}
