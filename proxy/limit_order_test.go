package proxy_test

import (
	"context"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// slow is a store that gives places back only when it is told to.
type slow struct {
	state.Limits
	asked, told chan struct{}
}

func (s *slow) Release(ctx context.Context, holds []state.Draw) error {
	s.asked <- struct{}{}
	<-s.told
	return s.Limits.Release(ctx, holds)
}

// TestPlacesBeforeAnswers: a place is free before the caller has the answer, so that
// callers who make one call after the other never meet themselves.
func TestPlacesBeforeAnswers(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	store := &slow{memory, make(chan struct{}), make(chan struct{})}
	w := onePlaceEach(t, func(s *setup) { s.counts = store })
	for _, s := range sides {
		done := make(chan said, 1)
		go func() { done <- w.speak("carol", w.base, s, ask{method: wire.SendMessage, task: taskFor(s)}) }()
		<-store.asked
		select {
		case got := <-done:
			t.Errorf("%s: answered before the place was given back", s)
			done <- got
		default:
		}
		store.told <- struct{}{}
		(<-done).ok(t, s.String())
	}
}
