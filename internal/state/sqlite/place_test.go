package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// TestPlace: nothing is written to a file that somebody has deleted, moved or replaced, and all
// is well when it is back.
func TestPlace(t *testing.T) {
	t.Parallel()
	const deleted, replaced = "was deleted or moved away", "another file is in the place of"
	move := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		lose, mend func(t *testing.T, path string)
		want       string
	}{
		"deleted": {func(_ *testing.T, path string) { _ = os.Remove(path) }, nil, deleted},
		"deleted whole": {func(_ *testing.T, path string) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
		}, nil, deleted},
		"its journal deleted":   {func(_ *testing.T, path string) { _ = os.Remove(path + "-wal") }, nil, deleted},
		"its directory deleted": {func(_ *testing.T, path string) { _ = os.RemoveAll(filepath.Dir(path)) }, nil, deleted},
		"moved, and back": {
			func(t *testing.T, path string) { move(t, path, path+".away") },
			func(t *testing.T, path string) { move(t, path+".away", path) }, deleted,
		},
		"its directory moved, and back": {
			func(t *testing.T, path string) { move(t, filepath.Dir(path), filepath.Dir(path)+".away") },
			func(t *testing.T, path string) { move(t, filepath.Dir(path)+".away", filepath.Dir(path)) }, deleted,
		},
		"replaced by a copy": {func(t *testing.T, path string) {
			doc, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".copy", doc, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			move(t, path+".copy", path)
		}, nil, replaced},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state", "state.db")
			var lost atomic.Pointer[error]
			var told atomic.Int64
			s, err := Open(t.Context(), config(path), &Watcher{Lost: func(err error) { lost.Store(&err); told.Add(1) }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			claim := func(id string) error {
				_, err := s.Claim(t.Context(), state.Record{Agent: "a", Kind: state.Task, ID: id})
				return err
			}
			if err := claim("before"); err != nil || s.Away("a") != nil {
				t.Fatal(err, s.Away("a"))
			}
			test.lose(t, path)
			for _, err := range []error{claim("meanwhile"), s.Ping(t.Context()), s.Away("a")} {
				if !errors.Is(err, state.ErrUnavailable) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			}
			if why := lost.Load(); told.Load() != 1 || why == nil || !strings.Contains((*why).Error(), test.want) {
				t.Errorf("told %d times", told.Load())
			}
			if test.mend == nil {
				return
			}
			test.mend(t, path)
			if err := claim("after"); err != nil || told.Load() != 2 || *lost.Load() != nil || s.Away("a") != nil {
				t.Errorf("back again: %v, told %d times", err, told.Load())
			}
			if _, there, err := s.Lookup(t.Context(), "a", state.Task, "meanwhile"); err != nil || there {
				t.Errorf("what was refused is there: %v, %v", there, err)
			}
		})
	}
}

// TestPlaceIsWatched although nobody calls.
func TestPlaceIsWatched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	told := make(chan error, 1)
	s, err := Open(t.Context(), config(path), &Watcher{Lost: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-told:
		if !errors.Is(err, state.ErrUnavailable) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("nobody is told")
	}
	if matches, _ := filepath.Glob(path); len(matches) > 0 {
		t.Error("another file was made in its place")
	}
}
