package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestMemoryLogsConform(t *testing.T) {
	t.Parallel()
	statetest.Logs(t, func(t testing.TB) state.Logs { return open(t, state.Config{}) })
}

func logged(t testing.TB, size quantity.Size) (*state.Memory, func(log string, after uint64, data string, keep state.Bound, want error)) {
	t.Helper()
	m := open(t, state.Config{Memory: state.MemoryConfig{LogBytes: size}})
	return m, func(log string, after uint64, data string, keep state.Bound, want error) {
		t.Helper()
		if err := m.Append(t.Context(), log, after, [][]byte{[]byte(data)}, keep); !errors.Is(err, want) {
			t.Errorf("Append of %d bytes to %s behind %d: %v, want %v", len(data), log, after, err, want)
		}
	}
}

// All logs together have a bound, which those that run out, are dropped or forget old
// entries give room in again.
func TestMemoryLimitsLogs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, put := logged(t, 10_000)
		half, keep := strings.Repeat("x", 4096), state.Bound{Entries: 2, Bytes: 5000, TTL: time.Minute}
		put("a", 0, half, keep, nil)
		put("b", 0, half, keep, nil)
		put("c", 0, half, keep, state.ErrFull)
		if tail, err := m.Read(t.Context(), "c", 0, 9); err != nil || tail.Last != 0 {
			t.Errorf("what was refused is there: %+v, %v", tail, err)
		}
		put("a", 1, half, keep, nil) // in the place of the first
		if err := m.Drop(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		put("c", 0, half, keep, nil)
		put("d", 0, half, keep, state.ErrFull)
		time.Sleep(2 * time.Minute) // nobody asks for b and c
		synctest.Wait()
		put("d", 0, half, keep, nil)
		put("e", 0, half, keep, nil)
		put("f", 0, half, keep, state.ErrFull)
		if err := m.Append(t.Context(), "f", 0, [][]byte{[]byte(half)}, keep); err == nil || !strings.Contains(err.Error(), "state.memory.logBytes") {
			t.Errorf("the error does not name the key: %v", err)
		}
	})
}

// Entries and logs without any bytes are bounded as well.
func TestMemoryLimitsEmptyLogs(t *testing.T) {
	t.Parallel()
	keep := state.Bound{Entries: 1 << 40, Bytes: 1 << 40, TTL: time.Hour}
	m, put := logged(t, 1<<20)
	n := 0
	for m.Append(t.Context(), fmt.Sprint(n), 0, [][]byte{nil}, keep) == nil {
		n++
	}
	if n < 3000 || n > 4000 {
		t.Errorf("there is room for %d empty logs in 1 MiB", n)
	}
	for i := range n {
		if err := m.Drop(t.Context(), fmt.Sprint(i)); err != nil {
			t.Error(err)
		}
	}
	put("a", 0, strings.Repeat("x", 1<<20-400), keep, nil) // all of it is free again
	put("b", 0, strings.Repeat("x", 1<<20), keep, state.ErrFull)
	if err := m.Drop(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	n = 0
	for m.Append(t.Context(), "a", uint64(n), [][]byte{nil}, keep) == nil {
		n++
	}
	if n < 20_000 || n > 30_000 {
		t.Errorf("there is room for %d empty entries in 1 MiB", n)
	}
}

func BenchmarkLogs(b *testing.B) {
	statetest.BenchmarkLogs(b, func(b testing.TB) state.Logs { return open(b, state.Config{}) })
}
