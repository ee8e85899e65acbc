package share

import (
	"context"
	"errors"
	"testing"
)

// TestTurns: a caller's third thing waits for one of its two, another's does not, and nobody is
// remembered when all is done.
func TestTurns(t *testing.T) {
	t.Parallel()
	turns := NewTurns(2)
	enter := func(ctx context.Context, who string) {
		t.Helper()
		if err := turns.Enter(ctx, who); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
	}
	enter(t.Context(), "a")
	enter(t.Context(), "a")
	over, end := context.WithCancel(t.Context())
	end()
	if err := turns.Enter(over, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a third: %v", err)
	}
	enter(t.Context(), "b")
	waits := make(chan error)
	go func() { waits <- turns.Enter(t.Context(), "a") }()
	turns.Leave("a")
	if err := <-waits; err != nil {
		t.Error(err)
	}
	for _, who := range []string{"a", "a", "b"} {
		turns.Leave(who)
	}
	if len(turns.of) > 0 {
		t.Errorf("%d are remembered", len(turns.of))
	}
}
