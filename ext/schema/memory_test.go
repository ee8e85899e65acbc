package schema

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestMemoryIsExact has all values fight for one slot under one key.
func TestMemoryIsExact(t *testing.T) {
	t.Parallel()
	m := newMemory()
	good, bad := []byte(`"good"`), []byte(`"bad"`)
	broken := &Violation{Text: "bad"}
	const key = 7
	m.keep(key, good, nil)
	if _, known := m.recall(key, good); known {
		t.Error("kept what came once")
	}
	m.keep(key, good, nil)
	if v, known := m.recall(key, good); !known || v != nil {
		t.Errorf("%v, %v", v, known)
	}
	if v, known := m.recall(key, bad); known {
		t.Errorf("another value with the same key is known: %v", v)
	}
	m.keep(key, bad, broken)
	if v, known := m.recall(key, bad); !known || v != broken {
		t.Errorf("%v, %v", v, known)
	}
	if _, known := m.recall(key, good); known {
		t.Error("the old value is still there")
	}
}

// TestMemoryOfLargeValues: they are told apart though only their ends are hashed.
func TestMemoryOfLargeValues(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"items":{"pattern":"^x*$"}}`)
	ends := `"` + strings.Repeat("x", 2000) + `"`
	for range 4 {
		for middle, want := range map[string]bool{`"x"`: true, `"y"`: false, `"z"`: false} {
			if err := s.Check([]byte(`[` + ends + `,` + middle + `,` + ends + `]`)); (err == nil) != want {
				t.Errorf("with %s in the middle: %v", middle, err)
			}
		}
	}
}

func TestMemoryKeepsItsOwn(t *testing.T) {
	t.Parallel()
	m := newMemory()
	value := []byte(`"good"`)
	m.keep(7, value, nil)
	m.keep(7, value, nil)
	copy(value, `"evil"`) // the caller's buffer is used again
	if _, known := m.recall(7, value); known {
		t.Error("the memory changed with the caller's buffer")
	}
}

// TestMemoryIsBounded fills it with more than fits, from several sides.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := newMemory()
	large := bytes.Repeat([]byte("x"), maxRemembered+1)
	if m.key(large) != 0 || m.key(large[1:]) == 0 || m.key(nil) == 0 {
		t.Error("the wrong sizes are kept")
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				value := fmt.Appendf(nil, "%d/%d:%8000d", g, i, i)
				key := m.key(value)
				m.keep(key, value, nil)
				m.keep(key, value, nil)
			}
		})
	}
	wg.Wait()
	held := 0
	for i := range m.table {
		if r := m.table[i].held.Load(); r != nil {
			held += len(r.value)
		}
	}
	if held == 0 || held > budget || int64(held) != m.bytes.Load() {
		t.Errorf("holds %d bytes, thinks %d, may %d", held, m.bytes.Load(), budget)
	}
}

// TestCheckAtOnce is for the race detector: a valid and a broken value through one schema.
func TestCheckAtOnce(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"string"}`)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				if err := s.Check(fmt.Appendf(nil, `"%d"`, i%50)); err != nil {
					t.Error(err)
				}
				if err := s.Check(fmt.Appendf(nil, `%d`, i%50)); err == nil {
					t.Error("accepted")
				}
			}
		})
	}
	wg.Wait()
}
