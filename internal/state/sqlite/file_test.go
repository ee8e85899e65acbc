package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// After an orderly end and another start everything is as it was, but for places, which
// ended with who held them.
func TestRestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "er ?%25&#", "state.db")
	s := reopen(t, config(path), time.Now)
	task, step := statetest.Example(), statetest.ExampleStep()
	name := task
	name.Kind = state.ContextName
	rate, quota, hold := statetest.ExampleDraw(state.Rate), statetest.ExampleDraw(state.Quota), statetest.ExampleDraw(state.Hold)
	quota.Key, hold.Key = "quota", "hold"
	draws := []state.Draw{rate, quota, hold}
	var before []state.Drawn
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := s.ClaimAll(t.Context(), []state.Record{task, name})
	do("claim", err)
	_, err = s.Advance(t.Context(), step, "", "paid")
	do("advance", err)
	do("put", s.Put(t.Context(), "space", "key", []byte("data"), time.Hour))
	before, err = s.Draw(t.Context(), draws)
	do("draw", err)
	do("close", s.Close())
	do("close again", s.Close())
	if list, _ := filepath.Glob(path + "-*"); len(list) != 0 {
		t.Errorf("%q are left; the file alone is to be whole", list)
	}

	s = reopen(t, config(path), time.Now)
	got, err := s.LookupAll(t.Context(), task.Agent, []state.Ref{{Kind: task.Kind, ID: task.ID}, {Kind: name.Kind, ID: name.ID}})
	do("lookup", err)
	if diff := cmp.Diff([]state.Record{task, name}, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if now, err := s.Advance(t.Context(), step, "", ""); err != nil || now != "paid" {
		t.Errorf("the task stands at %q, %v", now, err)
	}
	if data, ok, err := s.Get(t.Context(), "space", "key"); err != nil || !ok || string(data) != "data" {
		t.Errorf("the key holds %q, %v, %v", data, ok, err)
	}
	after, err := s.Draw(t.Context(), draws)
	do("draw again", err)
	for i, want := range []int64{before[0].Left - 1, before[1].Left - 1, before[2].Left} {
		if after[i].Left != want {
			t.Errorf("of draw %d %d are left, want %d", i, after[i].Left, want)
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made", "state.db")
	s := reopen(t, config(path), time.Now)
	if err := s.Put(t.Context(), "s", "k", nil, 0); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		filepath.Dir(path): 0o700 | os.ModeDir, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil { // as a careless copy would have it
		t.Fatal(err)
	}
	reopen(t, config(path), time.Now)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("a file that others could read has mode %v, %v", info.Mode(), err)
	}
}

// What cannot be opened is refused with the file's name, and stays as it is.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, path string)
		want  string
	}{
		"text": {func(t *testing.T, path string) {
			write(t, path, []byte(strings.Repeat("not a database\n", 1000)))
		}, "cannot be read as a database"},
		"half a header": {func(t *testing.T, path string) {
			write(t, path, read(t, path)[:50])
		}, "cannot be read as a database"},
		"half a file": {func(t *testing.T, path string) {
			whole := read(t, path)
			write(t, path, whole[:len(whole)/2])
		}, "cannot be read as a database"},
		"zeros inside": {func(t *testing.T, path string) {
			whole := read(t, path)
			clear(whole[4096 : len(whole)-4096])
			write(t, path, whole)
		}, "cannot be read as a database"},
		"somebody else's": {func(t *testing.T, path string) {
			execute(t, path, `PRAGMA application_id = 7`)
		}, "a database of something else"},
		"a newer gateway's": {func(t *testing.T, path string) {
			execute(t, path, `PRAGMA user_version = 99`)
		}, "a newer gateway wrote the file (schema 99, this one knows "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			s := reopen(t, config(path), time.Now)
			for i := range 200 {
				if err := s.Put(t.Context(), "s", fmt.Sprint(i), make([]byte, 500), 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tc.spoil(t, path)
			before := read(t, path)
			for range 2 {
				s, err := Open(t.Context(), config(path), nil)
				if s != nil || err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("Open: %v; want %q and the name of the file", err, tc.want)
				}
			}
			if !bytes.Equal(before, read(t, path)) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpensOnce(t *testing.T) {
	t.Parallel()
	c := config(filepath.Join(t.TempDir(), "state.db"))
	first := reopen(t, c, time.Now)
	if _, err := Open(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "another gateway uses it") ||
		!strings.Contains(err.Error(), c.SQLite.Path) {
		t.Errorf("a second gateway on the file: %v", err)
	}
	if err := first.Put(t.Context(), "s", "k", nil, 0); err != nil {
		t.Errorf("the first after that: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	reopen(t, c, time.Now)
	if _, err := Open(t.Context(), state.Config{}, nil); err == nil || !strings.Contains(err.Error(), "state.sqlite.path") {
		t.Errorf("without a path: %v", err)
	}
}

// A file of each earlier version is brought to the newest with all that is in it.
func TestMigrates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := connect(state.SQLiteConfig{Path: path}, newPlace("", nil), true)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := step(t.Context(), conn, 1); err != nil {
		t.Fatal(err)
	}
	r := statetest.Example()
	row := rowOf(r, time.Now())
	const insert = `INSERT INTO records (agent, kind, id, owner, tenant, skill, context, endpoint, version, extensions, created, used)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	if _, err := conn.ExecContext(t.Context(), insert, row.values()[:12]...); err != nil {
		t.Fatal(err)
	}
	if err := step(t.Context(), conn, 1); err == nil {
		t.Error("a step was taken twice")
	}
	if version, err := versionOf(t.Context(), conn); version != 1 || err != nil {
		t.Errorf("after a step that failed the version is %d, %v", version, err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, config(path), time.Now)
	got, ok, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID)
	r.Trace = "" // which no version before the fifth had
	if diff := cmp.Diff(r, got); !ok || err != nil || diff != "" {
		t.Errorf("found %v, %v (-want +got):\n%s", ok, err, diff)
	}
	if latest, err := newest(); err != nil || s.writer.version != latest {
		t.Errorf("the version is %d of %d, %v", s.writer.version, latest, err)
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
