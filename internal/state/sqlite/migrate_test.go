package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// released are the steps of the schema that files out there have taken: they stay as they are.
var released = []string{
	"6067f8933b449b6bd27379e34d3d81b170a62f2171f442d23c5e400ac61da30d",
	"955f93eee996a05ecb4aae2722a680abb429087f138995fd224873fc63a67037",
	"cd317b14a2c162e2c35fe9968e4a1539b1403355710b33211dabb54780d92d2f",
	"c3c1fcc57258e28d58b2ca2587c2a3de303046a3d63fc70f86686cfb0db320f3",
	"41a77770212ffbbfc2efdecab2a9935c8b1a9e675e580ac859a3546c5e0f6e0e",
	"62b0d4141fef328259afdb362922b5399a718fef030e6ef2a222b57264939c8e",
	"7523e481681a9f0a32469a18ecdb523afa725d4893b7ed939fc7eadf25ec4305",
}

func TestStepsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	if latest, err := newest(); err != nil || latest != len(released) {
		t.Errorf("%d steps, %v; the digest of each belongs here", latest, err)
	}
	for i, want := range released {
		script, err := migrations.ReadFile(fmt.Sprintf("schema/%04d.sql", i+1))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(script)); got != want {
			t.Errorf("step %d is another than the one that files have taken; what is to change is a step of its own", i+1)
		}
	}
}

// TestMigratesFromEach opens a file of every earlier version, with all in it that the
// version had room for.
func TestMigratesFromEach(t *testing.T) {
	t.Parallel()
	latest, err := newest()
	if err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole.db")
	s, err := Open(t.Context(), config(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	stock(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for version := 1; version < latest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			formerly(t, path, version, whole)
			s := reopen(t, config(path), time.Now)
			if s.writer.version != latest {
				t.Errorf("the version is %d of %d", s.writer.version, latest)
			}
			stocked(t, s, version)
		})
	}
}

// stock puts one of everything into a store.
func stock(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for what, do := range map[string]func() error{
		"a task":  func() error { _, err := s.Claim(ctx, statetest.Example()); return err },
		"a step":  func() error { _, err := s.Advance(ctx, statetest.ExampleStep(), "", "paid"); return err },
		"a value": func() error { return s.Put(ctx, "space", "key", []byte("data"), 0) },
		"a count": func() error { _, err := s.Draw(ctx, []state.Draw{statetest.ExampleDraw(state.Quota)}); return err },
		"a log": func() error {
			return s.Append(ctx, "log", 0, [][]byte{[]byte("one"), []byte("two")}, state.Bound{Entries: 9, Bytes: 99, TTL: time.Hour})
		},
		"an item": func() error {
			_, err := s.Push(ctx, "queue", state.Item{ID: "id", Line: "line", Data: []byte("data"), Pushed: time.Now(), Due: time.Now()}, 9)
			return err
		},
	} {
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// stocked looks for it, as far as a version had it.
func stocked(t *testing.T, s *Store, version int) {
	t.Helper()
	ctx, want := t.Context(), statetest.Example()
	if version < 5 {
		want.Trace = "" // which came with the fifth
	}
	got, _, err := s.Lookup(ctx, want.Agent, want.Kind, want.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if list, err := s.Tasks(ctx, state.Query{Agent: want.Agent, Owner: want.Owner, Limit: 9}); err != nil || len(list) != 1 {
		t.Errorf("tasks %v, %v", list, err)
	}
	if now, err := s.Advance(ctx, statetest.ExampleStep(), "", ""); err != nil || now != "paid" {
		t.Errorf("the task stands at %q, %v", now, err)
	}
	if data, _, err := s.Get(ctx, "space", "key"); err != nil || string(data) != "data" {
		t.Errorf("the key holds %q, %v", data, err)
	}
	if version >= 2 {
		if d, err := s.Draw(ctx, []state.Draw{statetest.ExampleDraw(state.Quota)}); err != nil || d[0].Left != 1 {
			t.Errorf("of the quota %v are left, %v", d, err)
		}
	}
	if version >= 3 {
		if tail, err := s.Read(ctx, "log", 1, 9); err != nil || tail.Last != 2 || len(tail.Entries) != 1 || string(tail.Entries[0]) != "two" {
			t.Errorf("the log has %+v, %v", tail, err)
		}
	}
	if version >= 4 {
		items, err := s.Take(ctx, "queue", "me", time.Now(), 9, time.Minute)
		if err != nil || len(items) != 1 || string(items[0].Data) != "data" {
			t.Errorf("the queue has %+v, %v", items, err)
		}
	}
}

// formerly writes a file as gateways of a version did, with what they knew of another.
func formerly(t *testing.T, path string, version int, whole string) {
	t.Helper()
	db, err := connect(state.SQLiteConfig{Path: path}, newPlace("", nil), true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for to := 1; to <= version; to++ {
		if err := step(t.Context(), conn, to); err != nil {
			t.Fatal(err)
		}
	}
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do(`ATTACH ? AS whole`, whole)
	for _, table := range names(t, conn, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`) {
		columns := strings.Join(names(t, conn, `SELECT name FROM pragma_table_info('`+table+`', 'main')`), ", ")
		do(`INSERT OR REPLACE INTO main.` + table + ` (` + columns + `) SELECT ` + columns + ` FROM whole.` + table)
	}
	do(`DETACH whole`)
}

func names(t *testing.T, conn *sql.Conn, query string) (list []string) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
