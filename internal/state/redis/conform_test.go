package redis

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestStoreConforms(t *testing.T) {
	t.Parallel()
	statetest.Store(t, func(t testing.TB) state.Store { return fresh(t) })
}

func TestLimitsConform(t *testing.T) {
	t.Parallel()
	statetest.Limits(t, func(t testing.TB) state.Limits { return fresh(t) })
}

// Several gateways share one server.
func TestStoreIsLinearizable(t *testing.T) {
	t.Parallel()
	statetest.Linearizable(t, func(t testing.TB) []state.Store {
		c := config(everybody(t).address)
		return []state.Store{open(t, c), open(t, c), open(t, c)}
	})
}
