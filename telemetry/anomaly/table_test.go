package anomaly

import (
	"math/bits"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTableForgetsTheOldest holds a table to lists of keys, one for each set, in the order
// in which they were heard of.
func TestTableForgetsTheOldest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const size = 3 * ways
		table := newTable[uint64](size)
		model := map[uint64][]uint64{} // by set, oldest first
		keys := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(1, 40).Draw(t, "n")*(1<<64/41) | 1
		})
		for now := range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := keys.Draw(t, "key")
			set, _ := bits.Mul64(key, size/ways)
			list := model[set]
			at := indexOf(list, key)
			if drop := rapid.IntRange(0, 9).Draw(t, "drop") == 0; drop {
				if table.drop(key); at >= 0 {
					model[set] = append(list[:at:at], list[at+1:]...)
				}
				continue
			}
			value, had := table.take(key, time.Duration(now+1))
			if had != (at >= 0) {
				t.Fatalf("key %d is there: %t", key, had)
			}
			if had && *value != key {
				t.Fatalf("key %d has the value of %d", key, *value)
			}
			*value = key
			switch {
			case had:
				list = append(list[:at:at], list[at+1:]...)
			case len(list) == ways:
				list = list[1:]
			}
			model[set] = append(list, key)
			for _, list := range model {
				for _, key := range list {
					if v := table.find(key); v == nil || *v != key {
						t.Fatalf("key %d was forgotten", key)
					}
				}
			}
		}
	})
}

func indexOf(list []uint64, key uint64) int {
	for i, k := range list {
		if k == key {
			return i
		}
	}
	return -1
}

// TestTableHoldsNoMore than it is made for, and nothing before it is needed.
func TestTableHoldsNoMore(t *testing.T) {
	t.Parallel()
	table := newTable[int](100)
	count := func() (sets, values int) {
		for _, s := range table.sets {
			if s != nil {
				sets++
			}
		}
		table.each(func(*int) { values++ })
		return sets, values
	}
	if sets, _ := count(); sets != 0 {
		t.Errorf("an empty table has %d sets", sets)
	}
	for i := range uint64(100_000) {
		table.take(i*0x9e3779b97f4a7c15|1, time.Duration(i))
	}
	if sets, values := count(); sets != 13 || values != 104 {
		t.Errorf("a table of 100 holds %d sets with %d values", sets, values)
	}
}
