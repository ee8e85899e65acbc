package card

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: no more than so many at once, and those who do not come to an end are not
// waited for.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns()
		var ends []func()
		for range manyTurns {
			end, err := turns.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		ctx, cancel := context.WithTimeout(t.Context(), turnTime/2)
		defer cancel()
		if _, err := turns.take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("one too many: %v", err)
		}
		ends[0]()
		ends[0]() // gives back one turn, not two
		end, err := turns.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		next, err := turns.take(t.Context())
		if err != nil || time.Since(began) != turnTime/2 {
			t.Fatalf("after %s: %v", time.Since(began), err)
		}
		for _, end := range append(ends, end, next) {
			end()
		}
		if len(turns) != 0 {
			t.Errorf("%d turns are taken", len(turns))
		}
	})
}

func TestNoTurns(t *testing.T) {
	t.Parallel()
	end, err := Turns(nil).take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	end()
}
