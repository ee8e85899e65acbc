package anomaly

import (
	"math/bits"
	"time"
)

// ways is how many places a key can be in.
const ways = 8

// table remembers a fixed number of keys, and forgets the one of them that was longest not
// heard of to make place for another. A key has its place in one of eight by its hash, so
// that nothing is ever moved, and no more is held than was in use once. Keys are hashes
// under a seed that nobody knows: who could choose them could have others forgotten.
// It is set-associative, like a processor's cache: finding a key looks at eight places that lie
// together. Memory is taken for a set when its first key comes.
type table[T any] struct {
	sets []*[ways]place[T]
}

type place[T any] struct {
	key   uint64 // 0 while nobody has it
	used  time.Duration
	value T
}

func newTable[T any](size int) table[T] {
	return table[T]{sets: make([]*[ways]place[T], (size+ways-1)/ways)}
}

// set finds the places of a key without a division.
// The upper half of key times the number of sets is spread like the key itself.
func (t *table[T]) set(key uint64) **[ways]place[T] {
	i, _ := bits.Mul64(key, uint64(len(t.sets)))
	return &t.sets[i]
}

// find is nil for a key that is not remembered.
func (t *table[T]) find(key uint64) *T {
	s := *t.set(key)
	if s == nil {
		return nil
	}
	for i := range s {
		if s[i].key == key {
			return &s[i].value
		}
	}
	return nil
}

// take is find for a key that is to be remembered from now on. Where it was not, had is
// false, and the value is what the place was used for before, which is the caller's to
// clear.
// Of the eight the one is taken that is free, or else was used longest ago.
func (t *table[T]) take(key uint64, now time.Duration) (value *T, had bool) {
	at := t.set(key)
	if *at == nil {
		*at = new([ways]place[T])
	}
	s := *at
	oldest := &s[0]
	for i := range s {
		p := &s[i]
		switch {
		case p.key == key:
			p.used = now
			return &p.value, true
		// A place that nobody has is better than the oldest.
		case oldest.key != 0 && (p.key == 0 || p.used < oldest.used):
			oldest = p
		}
	}
	oldest.key, oldest.used = key, now
	return &oldest.value, false
}

// drop forgets a key whose counts are at an end by themselves, and frees its place for others.
func (t *table[T]) drop(key uint64) {
	s := *t.set(key)
	if s == nil {
		return
	}
	for i := range s {
		if s[i].key == key {
			s[i] = place[T]{}
		}
	}
}

// each shows all values that are remembered, in no order that means anything.
func (t *table[T]) each(f func(*T)) {
	for _, s := range t.sets {
		if s == nil {
			continue
		}
		for i := range s {
			if s[i].key != 0 {
				f(&s[i].value)
			}
		}
	}
}
