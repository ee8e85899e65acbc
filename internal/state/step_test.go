package state_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// Steps and records share one limit; a step that is there can go on.
func TestMemoryRefusesStepsWhenFull(t *testing.T) {
	t.Parallel()
	m := open(t, state.Config{Memory: state.MemoryConfig{Records: 2}})
	if _, err := m.Claim(t.Context(), record(0)); err != nil {
		t.Fatal(err)
	}
	advance(t, m, 0, "", "offered", "offered")
	if got, err := m.Advance(t.Context(), step(1), "", "offered"); !errors.Is(err, state.ErrFull) || got != "" {
		t.Errorf("the step above the limit gave %q, %v; want ErrFull", got, err)
	}
	if _, err := m.Claim(t.Context(), record(1)); !errors.Is(err, state.ErrFull) {
		t.Errorf("the claim above the limit gave %v; want ErrFull", err)
	}
	advance(t, m, 1, "", "", "") // reading takes no room
	advance(t, m, 0, "offered", "paid", "paid")
	advance(t, m, 0, "paid", "", "")
	advance(t, m, 1, "", "offered", "offered") // in the room that became free
	if m.Len() != 2 {
		t.Errorf("%d are held, want a record and a step", m.Len())
	}
}

// The limit holds exactly however many begin at once, and all room comes back.
func TestMemoryLimitsStepsUnderContention(t *testing.T) {
	t.Parallel()
	const limit, callers = 100, 8
	m := open(t, state.Config{Memory: state.MemoryConfig{Records: limit}})
	var stored atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := range limit {
				if _, err := m.Advance(t.Context(), step(caller*limit+i), "", "s"); err == nil {
					stored.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if stored.Load() != limit || m.Len() != limit {
		t.Errorf("%d steps were accepted and %d stand, want %d", stored.Load(), m.Len(), limit)
	}
	for i := range callers * limit {
		advance(t, m, i, "s", "", "")
	}
	if m.Len() != 0 {
		t.Errorf("%d are held of nothing", m.Len())
	}
}

func TestMemoryForgetsStepsAfterRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{Retention: quantity.Duration(48 * time.Hour)})
		for i := range 3 {
			advance(t, m, i, "", "offered", "offered")
		}
		time.Sleep(47 * time.Hour)
		advance(t, m, 0, "offered", "offered", "offered") // reading keeps it
		advance(t, m, 1, "offered", "paid", "paid")       // so does going on
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		if m.Len() != 2 {
			t.Errorf("%d steps stand, want those that were used", m.Len())
		}
		advance(t, m, 2, "", "", "")
		advance(t, m, 1, "", "", "paid")
	})
}

// What ran out counts as none at once, not only when the sweeper comes by.
func TestMemoryExpiresStepsLazily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{Memory: state.MemoryConfig{Records: 2}, Retention: quantity.Duration(time.Hour)})
		if err := m.Close(); err != nil { // no sweeper from here on
			t.Fatal(err)
		}
		for i := range 2 {
			advance(t, m, i, "", "offered", "offered")
		}
		time.Sleep(time.Hour + 2*time.Second)
		advance(t, m, 0, "offered", "paid", "")
		advance(t, m, 1, "", "offered", "offered")
		if m.Len() != 1 {
			t.Errorf("%d steps stand, want 1", m.Len())
		}
	})
}

func BenchmarkAdvanceNew(b *testing.B) {
	m := open(b, state.Config{Memory: state.MemoryConfig{Records: 1 << 30}})
	steps := make([]state.Step, b.N)
	for i := range steps {
		steps[i] = step(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := m.Advance(b.Context(), steps[i], "", "offered"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAdvanceKnown(b *testing.B) {
	m := open(b, state.Config{})
	s := step(0)
	states := [2]string{"offered", "paid"}
	if _, err := m.Advance(b.Context(), s, "", states[0]); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if got, err := m.Advance(b.Context(), s, states[i%2], states[1-i%2]); err != nil || got != states[1-i%2] {
			b.Fatal(got, err)
		}
	}
}

// step is one of many tasks.
func step(i int) state.Step {
	s := statetest.ExampleStep()
	s.Task = fmt.Sprintf("0f8fad5b-d9cb-469f-a165-%012d", i)
	return s
}

func advance(t *testing.T, m *state.Memory, i int, from, to, want string) {
	t.Helper()
	if got, err := m.Advance(t.Context(), step(i), from, to); err != nil || got != want {
		t.Errorf("task %d, from %q to %q: %q, %v; want %q", i, from, to, got, err, want)
	}
}
