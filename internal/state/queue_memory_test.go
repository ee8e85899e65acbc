package state_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestMemoryQueueConforms(t *testing.T) {
	t.Parallel()
	statetest.Queue(t, func(t testing.TB) state.Queue { return open(t, state.Config{}) })
}

func BenchmarkMemoryQueue(b *testing.B) {
	statetest.BenchmarkQueue(b, func(b testing.TB) state.Queue { return open(b, state.Config{}) })
}
