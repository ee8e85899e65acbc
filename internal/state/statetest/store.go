package statetest

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Store runs all suites. Each call of open must return a store that is empty, has
// room for 10,000 of everything, keeps records for an hour at least, and is closed by
// t's cleanup.
func Store(t *testing.T, open func(testing.TB) state.Store) {
	t.Helper()
	t.Run("Ledger", func(t *testing.T) {
		t.Parallel()
		Ledger(t, func(t testing.TB) state.Ledger { return open(t) })
	})
	t.Run("Steps", func(t *testing.T) {
		t.Parallel()
		Steps(t, func(t testing.TB) state.Steps { return open(t) })
	})
	t.Run("Limits", func(t *testing.T) {
		t.Parallel()
		Limits(t, func(t testing.TB) state.Limits { return open(t) })
	})
	t.Run("Values", func(t *testing.T) {
		t.Parallel()
		Values(t, func(t testing.TB) state.Values { return open(t) })
	})
	t.Run("Logs", func(t *testing.T) {
		t.Parallel()
		Logs(t, func(t testing.TB) state.Logs { return open(t) })
	})
	t.Run("Queue", func(t *testing.T) {
		t.Parallel()
		Queue(t, func(t testing.TB) state.Queue { return open(t) })
	})
	t.Run("ready", func(t *testing.T) {
		t.Parallel()
		if err := open(t).Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	})
}
