package state_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestMemoryValuesConform(t *testing.T) {
	t.Parallel()
	statetest.Values(t, func(t testing.TB) state.Values { return open(t, state.Config{}) })
}

// Values have a limit of their own: a flood of them leaves records their room.
func TestMemoryLimitsValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{Memory: state.MemoryConfig{Records: 2}})
		put := func(space, key string, ttl time.Duration, want error) {
			t.Helper()
			if err := m.Put(t.Context(), space, key, nil, ttl); !errors.Is(err, want) {
				t.Errorf("Put(%s, %s): %v, want %v", space, key, err, want)
			}
		}
		put("a", "1", time.Minute, nil)
		put("b", "1", 0, nil)
		put("a", "2", 0, state.ErrFull)
		put("a", "1", time.Minute, nil) // what is there may change
		if ok, err := m.Add(t.Context(), "b", "2", nil, 0); ok || !errors.Is(err, state.ErrFull) {
			t.Errorf("adding above the limit: %v, %v", ok, err)
		}
		if _, err := m.Claim(t.Context(), record(0)); err != nil {
			t.Errorf("a record beside them: %v", err)
		}
		time.Sleep(time.Minute) // the first of a runs out to the nanosecond
		put("a", "2", 0, nil)
		put("c", "1", 0, state.ErrFull)
		if err := m.Delete(t.Context(), "b", "1"); err != nil {
			t.Error(err)
		}
		put("c", "1", 0, nil)
	})
}

// TestGreedyValues: the messages of one caller, and the answers to them, take half of the room
// that there is, as large as they are, and others' and what is of another kind have theirs.
func TestGreedyValues(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{0: 50, 1024: 10} {
		m := open(t, state.Config{Memory: state.MemoryConfig{Records: 100}})
		put := func(space, key string, size int) error {
			return m.Put(t.Context(), space, key, make([]byte, size), time.Hour)
		}
		kept := 0
		for put("dedupe", fmt.Sprint("greedy/", kept), size) == nil {
			kept++
		}
		if kept != want {
			t.Errorf("one caller has %d values of %d bytes, want %d", kept, size, want)
		}
		for space, key := range map[string]string{"dedupe": "good/1", "revoked": "key"} {
			if err := put(space, key, 0); err != nil {
				t.Errorf("%s in %s: %v", key, space, err)
			}
		}
		if err := put("dedupe", "greedy/0", 64<<10); !errors.Is(err, state.ErrFull) {
			t.Errorf("what is there grows: %v", err)
		}
		if v, ok, err := m.Get(t.Context(), "dedupe", "greedy/0"); err != nil || !ok || len(v) != size {
			t.Errorf("what did not grow: %d bytes, %v, %v", len(v), ok, err)
		}
		for i := range kept {
			if err := m.Delete(t.Context(), "dedupe", fmt.Sprint("greedy/", i)); err != nil {
				t.Error(err)
			}
		}
		if err := put("dedupe", "greedy/0", 1024); err != nil {
			t.Errorf("after all were forgotten: %v", err)
		}
	}
}

// The sweeper gives back the room of what ran out, of other spaces too, however much
// it is.
func TestMemorySweepsValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		m := open(t, state.Config{Memory: state.MemoryConfig{Records: 2 * n}})
		for i := range n {
			if err := m.Put(t.Context(), "a", fmt.Sprint(i), nil, time.Duration(i+1)*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		for i := range n {
			if err := m.Put(t.Context(), "b", fmt.Sprint(i), nil, 0); err != nil {
				t.Fatalf("value %d of %d: %v", i, n, err)
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	m := open(b, state.Config{})
	keys := make([]string, b.N)
	for i := range keys {
		keys[i] = fmt.Sprintf("%08x-%012d", i*2654435761, i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := m.Add(b.Context(), "proofs", keys[i], nil, time.Millisecond); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGet asks for what is not there, as most calls do for revocations.
func BenchmarkGet(b *testing.B) {
	m := open(b, state.Config{})
	for i := range 10_000 {
		if err := m.Put(b.Context(), "revoked", fmt.Sprint(i), nil, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, _ := m.Get(b.Context(), "revoked", "0f8fad5b-d9cb-469f-a165-70867728950e"); ok {
			b.Fatal("found")
		}
	}
}
