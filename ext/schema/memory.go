package schema

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// What one schema remembers: at most slots values, none larger than maxRemembered,
// and budget bytes together.
// At most 256 KiB for each schema, of which a registry may have hundreds.
const (
	slots         = 256
	maxRemembered = 16 << 10
	budget        = 256 << 10
)

// memory keeps the results of values that come again and again. It costs no locks
// and never mixes two values up: those with the same hash are compared.
// Agents' answers repeat: a form or an artifact that is sent again with each event of a stream has
// to be checked each time, and the same bytes have the same result.
type memory struct {
	seed  maphash.Seed
	bytes atomic.Int64 // of all values together
	hand  atomic.Uint32
	// The hand goes round the slots and empties one after the other when the budget is spent.
	table [slots]slot
}

// slot is one value's place. A value is kept when it comes a second time: most never
// do, and copying those would be in vain.
type slot struct {
	// seen is the hash of the value that came last, held the one that is kept.
	seen atomic.Uint64
	held atomic.Pointer[remembered]
}

// result is nil for a value that the schema allows.
type remembered struct {
	value  []byte
	result *Violation
}

// The seed is another one for each schema, so that nobody outside can make values that share a
// slot.
func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

// key is a value's hash, 0 for one that is not worth it. Of a large value both ends are
// hashed: that takes six times as long as comparing, which is done anyway.
func (m *memory) key(value []byte) uint64 {
	const end = 512
	n := len(value)
	switch {
	case n > maxRemembered:
		return 0
	case n <= 2*end:
		return max(maphash.Bytes(m.seed, value), 1)
	}
	return max(maphash.Bytes(m.seed, value[:end])^maphash.Bytes(m.seed, value[n-end:])^uint64(n), 1)
}

// recall finds the result of a value that was kept. key is what key returned for it.
func (m *memory) recall(key uint64, value []byte) (*Violation, bool) {
	if key == 0 {
		return nil, false
	}
	r := m.table[key%slots].held.Load()
	if r == nil || !bytes.Equal(r.value, value) {
		return nil, false
	}
	return r.result, true
}

// keep notes a value, and copies it when it has come twice. Calls that keep at the same time may
// go over the budget for a moment; the loop of the last one brings it back.
func (m *memory) keep(key uint64, value []byte, result *Violation) {
	if key == 0 {
		return
	}
	s := &m.table[key%slots]
	if s.seen.Swap(key) != key {
		return
	}
	m.put(s, &remembered{bytes.Clone(value), result})
	for m.bytes.Load() > budget {
		// The hand is shared: two goroutines that make room empty different slots.
		m.put(&m.table[m.hand.Add(1)%slots], nil)
	}
}

// put fills or, with nil, empties a slot, and keeps the account.
// Swap makes the account right whoever else puts something there at the same time.
func (m *memory) put(s *slot, r *remembered) {
	grown := 0
	if r != nil {
		grown = len(r.value)
	}
	if old := s.held.Swap(r); old != nil {
		grown -= len(old.value)
	}
	m.bytes.Add(int64(grown))
}
