package state_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestMemoryLimitsConform(t *testing.T) {
	t.Parallel()
	statetest.Limits(t, func(t testing.TB) state.Limits { return open(t, state.Config{}) })
}
