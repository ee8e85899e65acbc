package sqlite

import (
	"context"
	"path/filepath"
	"sync"
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
	s, err := open(t.Context(), c, nil, now)
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
	var stores recycled
	statetest.Ledger(t, func(t testing.TB) state.Ledger { return stores.open(t) })
	statetest.Steps(t, func(t testing.TB) state.Steps { return stores.open(t) })
	statetest.Values(t, func(t testing.TB) state.Values { return stores.open(t) })
	statetest.Logs(t, func(t testing.TB) state.Logs { return stores.open(t) })
	statetest.Queue(t, func(t testing.TB) state.Queue { return stores.open(t) })
	statetest.Limits(t, func(t testing.TB) state.Limits { return fresh(t) })
}

// recycled stores are emptied of all but counts when a test opens another one, as properties do for each
// of their checks: files take longer to make than the checks take.
type recycled struct {
	mu     sync.Mutex
	stores map[testing.TB]*Store
}

func (r *recycled) open(t testing.TB) *Store {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.stores[t]; s != nil {
		empty(t, s)
		return s
	}
	if r.stores == nil {
		r.stores = make(map[testing.TB]*Store)
	}
	r.stores[t] = fresh(t)
	return r.stores[t]
}

func empty(t testing.TB, s *Store) {
	t.Helper()
	if err := s.hand(func() error {
		_, err := s.writer.conn.ExecContext(context.Background(), `DELETE FROM records; DELETE FROM steps; DELETE FROM entries;
			DELETE FROM log_entries; DELETE FROM logs; DELETE FROM items`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.young, s.recent.old = nil, nil
}

func TestR12_IsLinearizable(t *testing.T) {
	t.Parallel()
	statetest.Linearizable(t, func(t testing.TB) []state.Store { return []state.Store{fresh(t)} })
}
