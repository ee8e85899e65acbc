package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func fresh(t testing.TB) *Store {
	t.Helper()
	return reopen(t, config(filepath.Join(t.TempDir(), "state.db")), time.Now)
}

func config(path string) state.Config {
	return state.Config{SQLite: state.SQLiteConfig{Path: path}}
}

func reopen(t testing.TB, c state.Config, now func() time.Time) *Store {
	t.Helper()
	s, err := open(t.Context(), c, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestConforms(t *testing.T) {
	t.Parallel()
	statetest.Store(t, func(t testing.TB) state.Store { return fresh(t) })
}

func TestR12_IsLinearizable(t *testing.T) {
	t.Parallel()
	statetest.Linearizable(t, func(t testing.TB) []state.Store { return []state.Store{fresh(t)} })
}
