package jsonscan

import (
	"bytes"
	"hash/maphash"
)

// Duplicate members of an object are refused: of two members of one name some parsers take the first and
// some the last (RFC 8259 §4), and a rule would be asked about the one that the agent does not read. Name
// compares the names of a small object one by one, uniqueNames those of a large one.

// fewNames is up to how many names an object is checked for duplicates by
// comparing each with each, which is fastest for the objects that exist.
const fewNames = 16

// duplicate refuses a duplicate member, by the name at an offset, which is not quoted.
func (s *Scanner) duplicate(at int) {
	s.Refuse(&Error{Duplicate: true, What: "two members of one object have the same name", At: at})
}

// nameSeed keeps an attacker from choosing names that collide in uniqueNames.
var nameSeed = maphash.MakeSeed()

// uniqueNames checks an object of more names than name compares one by one,
// when it closes: once over an open-addressed table of indexes, in linear time.
func (s *Scanner) uniqueNames(base int) {
	names := s.names[base:]
	if len(names) <= fewNames {
		return
	}
	size := 1
	for size < 2*len(names) {
		size *= 2
	}
	if cap(s.table) < size {
		s.table = make([]int32, size)
	}
	table := s.table[:size] // 0 is free, else index into names plus one
	clear(table)
	for i, ref := range names {
		name := s.bytesOf(ref)
		slot := int(maphash.Bytes(nameSeed, name) & uint64(size-1)) //nolint:gosec // sizes are above zero
		for ; table[slot] != 0; slot = (slot + 1) & (size - 1) {
			if other := names[table[slot]-1]; bytes.Equal(s.bytesOf(other), name) {
				s.duplicate(int(ref.start))
				break
			}
		}
		table[slot] = int32(i + 1)
	}
}
