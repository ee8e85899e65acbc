//go:build !minimal

package acme

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/sqlite"
)

// stores are the drivers that need no other program; those of Redis pass the same suite of
// Values, and TestACMEReplicas in e2e is about it.
func stores(t *testing.T) map[string]state.Values {
	t.Helper()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	file, err := sqlite.Open(t.Context(), state.Config{SQLite: state.SQLiteConfig{Path: filepath.Join(t.TempDir(), "state.db")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return map[string]state.Values{"memory": memory, "sqlite": file}
}

// ring is a state.Cipher.
type ring struct{ *keys.Ring }

func (r ring) Seal(plain, aad []byte) []byte { return r.Ring.Seal("acme", plain, aad) }

func (r ring) Open(sealed, aad []byte) ([]byte, error) { return r.Unseal("acme", sealed, aad) }

// TestStorage: what was stored is there, in its directory, until it is deleted.
func TestStorage(t *testing.T) {
	t.Parallel()
	for name, values := range stores(t) {
		s, ctx := newStorage(values), t.Context()
		all := []string{"acme/ca/users/a@b/a.json", "acme/ca/users/a@b/a.key", "acme/ca/users/c@d/c.key", "acme/ca2/x", "certificates/ca/n/n.crt"}
		for i, key := range all {
			if err := errors.Join(s.Store(ctx, key, []byte("old")), s.Store(ctx, key, []byte(strings.Repeat("x", i)))); err != nil {
				t.Fatal(name, err)
			}
		}
		for i, key := range all {
			value, err := s.Load(ctx, key)
			info, failed := s.Stat(ctx, key)
			if err != nil || failed != nil || len(value) != i || info.Size != int64(i) || !info.IsTerminal ||
				time.Since(info.Modified).Abs() > time.Hour || !s.Exists(ctx, key) {
				t.Errorf("%s: %s is %q, %v; %+v, %v", name, key, value, err, info, failed)
			}
		}
		for _, tt := range []struct {
			path      string
			recursive bool
			want      []string
		}{
			{"acme/ca/users", false, []string{"acme/ca/users/a@b", "acme/ca/users/c@d"}},
			{"acme/ca/users/", true, all[:3]},
			{"acme/ca", false, []string{"acme/ca/users"}},
			{"", false, []string{"acme", "certificates"}},
			{"", true, all},
		} {
			if got, err := s.List(ctx, tt.path, tt.recursive); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: List(%q, %v): %v", name, tt.path, tt.recursive, cmp.Diff(tt.want, got))
			}
		}
		for _, key := range []string{"acme/c", "acme/ca/users/a@b/a", "nothing"} {
			_, err := s.Load(ctx, key)
			_, stat := s.Stat(ctx, key)
			_, list := s.List(ctx, key, true)
			if !errors.Is(err, fs.ErrNotExist) || !errors.Is(stat, fs.ErrNotExist) || !errors.Is(list, fs.ErrNotExist) || s.Exists(ctx, key) {
				t.Errorf("%s: %s is there: %v, %v, %v", name, key, err, stat, list)
			}
		}
		if info, err := s.Stat(ctx, "acme/ca"); err != nil || info.IsTerminal || !s.Exists(ctx, "acme/ca") {
			t.Errorf("%s: a directory is %+v, %v", name, info, err)
		}
		if err := errors.Join(s.Delete(ctx, "acme/ca"), s.Delete(ctx, "nothing")); err != nil {
			t.Error(name, err)
		}
		if got, err := s.List(ctx, "", true); err != nil || !slices.Equal(got, all[3:]) {
			t.Errorf("%s: left after the deletion: %q, %v", name, got, err)
		}
	}
}

// TestStoragePages: a directory is longer than what is listed at once.
func TestStoragePages(t *testing.T) {
	t.Parallel()
	s, ctx := newStorage(stores(t)["memory"]), t.Context()
	for i := range 3*page + 7 {
		if err := s.Store(ctx, fmt.Sprintf("d/%04d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.List(ctx, "d", true); err != nil || len(got) != 3*page+7 || !slices.IsSorted(got) {
		t.Errorf("%d of them, %v", len(got), err)
	}
}

// TestKeysAreSealed: nothing of a key is in the file of the state.
func TestKeysAreSealed(t *testing.T) {
	t.Parallel()
	r, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(t.TempDir(), "state.db")
	file, err := sqlite.Open(t.Context(), state.Config{SQLite: state.SQLiteConfig{Path: path}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "-----BEGIN EC PRIVATE KEY-----"
	s := newStorage(state.Sealed(file, ring{r}))
	if err := errors.Join(s.Store(t.Context(), "a/a.key", []byte(mark)), file.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		if content, err := os.ReadFile(name); err == nil && strings.Contains(string(content), "PRIVATE") {
			t.Errorf("%s has the key", name)
		}
	}
	if file, err = sqlite.Open(t.Context(), state.Config{SQLite: state.SQLiteConfig{Path: path}}, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if got, err := newStorage(state.Sealed(file, ring{r})).Load(t.Context(), "a/a.key"); err != nil || string(got) != mark {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLock: of many one holds a lock, for as long as it likes; then the next.
func TestLock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		values := state.NewMemory(state.Config{})
		defer func() { _ = values.Close() }()
		inside, held := 0, 0
		for range 5 { // replicas
			s := newStorage(values)
			go func() {
				if err := s.Lock(t.Context(), "n"); err != nil {
					t.Error(err)
				}
				inside++
				if inside != 1 {
					t.Error("two hold it at once")
				}
				time.Sleep(10 * lease)
				inside--
				held++
				if err := s.Unlock(t.Context(), "n"); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(5*10*lease + 5*2*lockPause)
		synctest.Wait()
		if held != 5 {
			t.Errorf("%d have held it, want 5", held)
		}
	})
}

// TestLockOfTheDead: whoever is killed keeps the others waiting for a lease at most, and
// takes nothing from them if it comes back.
func TestLockOfTheDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		values := state.NewMemory(state.Config{})
		defer func() { _ = values.Close() }()
		dead, next := newStorage(values), newStorage(values)
		if err := dead.Lock(t.Context(), "n"); err != nil {
			t.Fatal(err)
		}
		dead.held["n"].stop() // as a kill does
		impatient, cancel := context.WithTimeout(t.Context(), lease/2)
		defer cancel()
		if err := next.Lock(impatient, "n"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("half a lease later: %v", err)
		}
		began := time.Now()
		if err := next.Lock(t.Context(), "n"); err != nil || time.Since(began) > lease {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if err := dead.Unlock(t.Context(), "n"); err != nil {
			t.Error(err)
		}
		if mine, err := next.mine(t.Context(), "n", next.held["n"].token); err != nil || !mine {
			t.Errorf("the one that came back has taken it away: %v", err)
		}
		if err := next.Unlock(t.Context(), "n"); err != nil {
			t.Error(err)
		}
		if err := next.Unlock(t.Context(), "n"); err == nil {
			t.Error("unlocked twice")
		}
	})
}

// gone is a state that nobody reaches.
type gone struct{ state.Values }

func (gone) Add(context.Context, string, string, []byte, time.Duration) (bool, error) {
	return false, state.ErrUnavailable
}

func (gone) Get(context.Context, string, string) ([]byte, bool, error) {
	return nil, false, state.ErrUnavailable
}

// TestStateAway: without the state there is no lock, and so no order.
func TestStateAway(t *testing.T) {
	t.Parallel()
	s := newStorage(gone{})
	if err := s.Lock(t.Context(), "n"); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("Lock: %v", err)
	}
	if _, err := s.Load(t.Context(), "n"); !errors.Is(err, state.ErrUnavailable) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load: %v", err)
	}
	if s.Exists(t.Context(), "n") {
		t.Error("it is there")
	}
}
