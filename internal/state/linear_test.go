package state_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestR12_MemoryIsLinearizable(t *testing.T) {
	t.Parallel()
	statetest.Linearizable(t, func(t testing.TB) []state.Store {
		return []state.Store{open(t, state.Config{})}
	})
}
